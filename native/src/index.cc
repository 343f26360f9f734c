#include "index.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "checksum.hpp"
#include "kernels.hpp"

namespace tessera {

Index::Index(uint32_t dimension) : dimension_(dimension), vectors_(dimension * sizeof(float)) {}

uint32_t Index::nodeFor(const float* vector) {
  const size_t bytes = dimension_ * sizeof(float);
  const uint64_t hash = checksum(vector, bytes);
  const auto [first, last] = byHash_.equal_range(hash);
  for (auto entry = first; entry != last; ++entry) {
    if (std::memcmp(this->vector(entry->second), vector, bytes) == 0) return entry->second;
  }
  const uint32_t node = nodes_.load(std::memory_order_relaxed);
  vectors_.ensure(node + 1);
  inverseNorms_.ensure(node + 1);
  hashes_.ensure(node + 1);
  heads_.ensure(node + 1);
  std::memcpy(vectors_.row(node), vector, bytes);
  inverseNorms_.at(node) = 1 / std::sqrt(kernels().dot(vector, vector, dimension_));
  hashes_.at(node) = hash;
  heads_.at(node).store(NONE, std::memory_order_relaxed);
  rememberNode(node);
  nodes_.store(node + 1, std::memory_order_release);
  return node;
}

/// Nodes that an append codes for the next sketch, beside its own.
static constexpr uint32_t RECODE_ROWS = 256;
/// Nodes that are coded in less than the time of one insertion into the graph.
static constexpr uint32_t CODED_AN_INSERTION = 4;

/// Codes the new nodes. While there is no graph yet, an index that has grown a lot gets a new centre
/// and with it new codes: the first few vectors tell little of the mean of all. Coding thousands of
/// nodes takes long, so that goes bit by bit, aside.
void Index::sketchNodes() {
  static constexpr uint32_t REFIT_GROWTH = 4;
  const uint32_t nodes = nodes_.load(std::memory_order_relaxed);
  std::shared_ptr<Sketch> sketch = sketch_.load(std::memory_order_relaxed);
  const bool outgrown = sketch && sketch->graph.size() == 0 &&
                        nodes / REFIT_GROWTH >= sketch->fittedTo;
  if (!sketch) {
    sketch = std::make_shared<Sketch>(dimension_);
    sketch->fit(*this, nodes);
  } else if (outgrown && !nextSketch_) {
    nextSketch_ = std::make_shared<Sketch>(dimension_);
    nextSketch_->fit(*this, nodes);
  }
  sketch->encode(*this, nodes);
  sketch_.store(std::move(sketch), std::memory_order_release);
  if (nextSketch_) recode(RECODE_ROWS);
}

/// Codes up to `most` nodes more for the next sketch and puts it in place once it has them all.
/// Returns how many it lacks.
uint32_t Index::recode(uint32_t most) {
  const uint32_t nodes = nodes_.load(std::memory_order_relaxed);
  nextSketch_->encode(*this, std::min(nodes, nextSketch_->coded + most));
  const uint32_t lacking = nodes - nextSketch_->coded;
  if (lacking == 0) sketch_.store(std::move(nextSketch_), std::memory_order_release);
  return lacking;
}

uint32_t Index::extendGraph(uint32_t most) {
  // A graph over codes that are about to be replaced would be built in vain.
  if (nextSketch_ && recode(most * CODED_AN_INSERTION) > 0) return nodes() - nextSketch_->coded;
  const std::shared_ptr<Sketch> sketch = sketch_.load(std::memory_order_relaxed);
  return sketch ? sketch->extend(*this, most) : 0;
}

IndexStats Index::stats() const {
  const uint64_t chunkRow =
      ids_.rowBytes() + places_.rowBytes() + nodeOf_.rowBytes() + next_.rowBytes();
  // A node of the hash table holds its key, its value and a pointer, and its bucket another one.
  const uint64_t nodeRow = inverseNorms_.rowBytes() + hashes_.rowBytes() + heads_.rowBytes() + 32;
  IndexStats numbers{};
  numbers.vectorBytes = uint64_t{nodes()} * vectors_.rowBytes();
  numbers.renderedBytes = texts_.bytes();
  numbers.idBytes = ordinals() * chunkRow + nodes() * nodeRow;
  if (const auto sketch = sketch_.load()) {
    numbers.codeBytes = uint64_t{nodes()} * (sketch->codes.rowBytes() + sketch->fine.rowBytes());
    numbers.graphBytes = sketch->graph.bytes();
    numbers.graphed = sketch->graph.size();
    numbers.expansion = sketch->expansion.load();
  }
  return numbers;
}

uint32_t Index::append(const Batch& batch) {
  const uint32_t first = ordinals_.load(std::memory_order_relaxed);
  if (batch.count > MAX_ROWS - first) throw std::length_error("the index is full");
  // Everything that may run out of memory comes before the first chunk is written; nodes and texts
  // that a failure leaves behind have no chunk and are never seen.
  ids_.ensure(first + batch.count);
  places_.ensure(first + batch.count);
  nodeOf_.ensure(first + batch.count);
  next_.ensure(first + batch.count);
  uint32_t begin = 0;
  for (uint32_t i = 0; i < batch.count; i++) {
    const uint32_t ordinal = first + i;
    nodeOf_.at(ordinal) = nodeFor(batch.vectors + size_t{i} * dimension_);
    places_.at(ordinal) = texts_.append(batch.texts.substr(begin, batch.ends[i] - begin));
    begin = batch.ends[i];
  }
  if (batch.count > 0) sketchNodes();
  for (uint32_t i = 0; i < batch.count; i++) {
    const uint32_t ordinal = first + i;
    std::memcpy(&ids_.at(ordinal), batch.ids + size_t{i} * sizeof(ChunkId), sizeof(ChunkId));
    std::atomic<uint32_t>& head = heads_.at(nodeOf_.at(ordinal));
    next_.at(ordinal) = head.load(std::memory_order_relaxed);
    head.store(ordinal, std::memory_order_release);
  }
  ordinals_.store(first + batch.count, std::memory_order_release);
  return first;
}

}  // namespace tessera
