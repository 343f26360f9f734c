#include "index/index.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace tessera {

/// Nodes that an append encodes for the replacement, besides its own.
static constexpr uint32_t REENCODED_PER_APPEND = 256;
/// Nodes that are encoded in less than the time of one insertion into the graph.
static constexpr uint32_t REENCODED_PER_INSERTION = 4;
/// The centre is computed again when an index without a graph has this many times its nodes.
static constexpr uint32_t RECENTRE_GROWTH = 4;

uint32_t Index::nodeFor(const float* vector) {
  const uint32_t next = vectors_.nodes();
  heads_.ensure(next + 1);
  heads_.at(next).store(NONE, std::memory_order_relaxed);
  return vectors_.findOrAdd(vector);
}

/// Encodes the new nodes. The first few vectors are a poor estimate of the mean, so an index that
/// has grown a lot gets a new centre, and with it new codes, as long as it has no graph. Encoding
/// thousands of nodes takes long and is therefore spread over many calls, in a replacement.
void Index::quantizeNodes() {
  const uint32_t nodes = vectors_.nodes();
  std::shared_ptr<QuantizedIndex> quantized = quantized_.load(std::memory_order_relaxed);
  const bool outgrown = quantized && quantized->graph.size() == 0 &&
                        nodes / RECENTRE_GROWTH >= quantized->centreNodes;
  if (!quantized) {
    quantized = std::make_shared<QuantizedIndex>(dimension());
    quantized->computeCentre(vectors_, nodes);
  } else if (outgrown && !nextQuantized_) {
    nextQuantized_ = std::make_shared<QuantizedIndex>(dimension());
    nextQuantized_->computeCentre(vectors_, nodes);
  }
  quantized->encode(vectors_, nodes);
  quantized_.store(std::move(quantized), std::memory_order_release);
  if (nextQuantized_) reencode(REENCODED_PER_APPEND);
}

/// Encodes up to `maxNodes` more nodes for the replacement and publishes it when it has all.
/// Returns how many are left.
uint32_t Index::reencode(uint32_t maxNodes) {
  const uint32_t nodes = vectors_.nodes();
  nextQuantized_->encode(vectors_, std::min(nodes, nextQuantized_->encoded + maxNodes));
  const uint32_t left = nodes - nextQuantized_->encoded;
  if (left == 0) quantized_.store(std::move(nextQuantized_), std::memory_order_release);
  return left;
}

void Index::requestCalibration() {
  const std::shared_ptr<QuantizedIndex> quantized = quantized_.load(std::memory_order_relaxed);
  if (quantized) quantized->calibratedNodes = 0;
}

uint32_t Index::extendGraph(uint32_t maxVectors) {
  // A graph over codes that are about to be replaced would be wasted.
  if (nextQuantized_) {
    const uint32_t left = reencode(maxVectors * REENCODED_PER_INSERTION);
    if (left > 0) return left;
  }
  const std::shared_ptr<QuantizedIndex> quantized = quantized_.load(std::memory_order_relaxed);
  return quantized ? quantized->extendGraph(vectors_, maxVectors) : 0;
}

IndexStats Index::stats() const {
  const uint64_t chunkRow =
      ids_.rowBytes() + textLocations_.rowBytes() + nodeOf_.rowBytes() + next_.rowBytes();
  const uint64_t nodeRow = vectors_.bookkeepingRowBytes() + heads_.rowBytes();
  IndexStats numbers{};
  numbers.vectorBytes = vectors_.vectorBytes();
  numbers.renderedBytes = texts_.bytes();
  numbers.idBytes = ordinals() * chunkRow + nodes() * nodeRow;
  if (const auto quantized = quantized_.load()) {
    numbers.codeBytes =
        uint64_t{nodes()} * (quantized->codes1Bit.rowBytes() + quantized->codes4Bit.rowBytes());
    numbers.graphBytes = quantized->graph.bytes();
    numbers.graphed = quantized->graph.size();
    numbers.effort = quantized->effort();
  }
  return numbers;
}

uint32_t Index::append(const Batch& batch) {
  const uint32_t first = ordinals_.load(std::memory_order_relaxed);
  if (batch.count > MAX_ROWS - first) throw std::length_error("the index is full");
  // All allocations happen before the first chunk is written. Nodes and texts that a failed append
  // leaves have no chunk and are never visible.
  ids_.ensure(first + batch.count);
  textLocations_.ensure(first + batch.count);
  nodeOf_.ensure(first + batch.count);
  next_.ensure(first + batch.count);
  uint32_t begin = 0;
  for (uint32_t i = 0; i < batch.count; i++) {
    const uint32_t ordinal = first + i;
    nodeOf_.at(ordinal) = nodeFor(batch.vectors + size_t{i} * dimension());
    textLocations_.at(ordinal) = texts_.append(batch.texts.substr(begin, batch.ends[i] - begin));
    begin = batch.ends[i];
  }
  if (batch.count > 0) quantizeNodes();
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
