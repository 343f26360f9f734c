#include "index/shard.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <stdexcept>

namespace tessera {

/// The centre is computed again when a shard without a graph has grown by this factor since the last time.
static constexpr uint32_t RECENTRE_GROWTH = 4;
/// Maximum number of nodes that the writer encodes when codes are replaced, because appends wait meanwhile.
static constexpr uint32_t RECENTRE_TAIL = 1024;
/// Minimum number of nodes that a generation of the graph adds, unless fewer are pending. A larger graph doubles. So
/// the first searches soon use a graph, and copying costs less than inserting.
static constexpr uint32_t GENERATION_NODES = 16384;
/// While nodes arrive, a generation waits until it adds at least one node per this many graph nodes, because it
/// copies the whole graph.
static constexpr uint32_t GENERATION_SHARE = 32;
/// Nodes have stopped arriving if no node was added for this time.
static constexpr std::chrono::seconds SETTLED{1};

static std::atomic<uint32_t> nodesForGraph{GRAPH_MIN_NODES};

uint32_t Shard::graphNodes() { return nodesForGraph; }
void Shard::setGraphNodes(uint32_t nodes) { nodesForGraph = nodes; }

static std::atomic<uint64_t> lastSerial{0};

Shard::Shard(uint32_t number, uint32_t dimension)
    : number_(number), serial_(++lastSerial), vectors_(dimension) {}

uint32_t Shard::append(const Chunk& chunk, uint64_t hash, uint32_t node) {
  const uint32_t row = rows_.load(std::memory_order_relaxed);
  // All allocations happen before the chunk is written. A node or a text that a failed append leaves behind has no
  // chunk and is never visible.
  ids_.ensure(row + 1);
  textLocations_.ensure(row + 1);
  nodeOf_.ensure(row + 1);
  next_.ensure(row + 1);
  if (chunk.vector != nullptr && node == NONE) {
    const uint32_t next = vectors_.nodes();
    heads_.ensure(next + 1);
    heads_.at(next).store(NONE, std::memory_order_relaxed);
    node = vectors_.add(hash, chunk.vector);
    grownAt_.store(std::chrono::steady_clock::now().time_since_epoch().count(),
                   std::memory_order_relaxed);
  }
  textLocations_.at(row) = texts_.append(chunk.text);
  ids_.at(row) = chunk.id;
  nodeOf_.at(row) = node;
  next_.at(row) = node == NONE ? NONE : heads_.at(node).load(std::memory_order_relaxed);
  versions_.add(chunk.text, row);
  if (node != NONE) heads_.at(node).store(row, std::memory_order_release);
  rows_.store(row + 1, std::memory_order_release);
  return row;
}

void Shard::quantize() {
  std::shared_ptr<QuantizedIndex> quantized = quantized_.load();
  if (nodes() == 0 || (quantized && quantized->encoded() == nodes())) return;
  if (!quantized) {
    quantized = std::make_shared<QuantizedIndex>(dimension());
    quantized->computeCentre(vectors_, nodes());
  }
  quantized->encode(vectors_, nodes());
  quantized_.store(std::move(quantized));
}

/// The first vectors are a poor estimate of the mean. So a shard without a graph that has grown a lot gets a new
/// centre, and with it new codes.
bool Shard::recentre(std::mutex& writer, const std::atomic<bool>& cancelled) {
  const std::shared_ptr<QuantizedIndex> current = quantized_.load();
  if (!current || current->graph() || nodes() / RECENTRE_GROWTH < current->centreNodes) return false;
  auto next = std::make_shared<QuantizedIndex>(dimension());
  next->computeCentre(vectors_, nodes());
  while (nodes() - next->encoded() > RECENTRE_TAIL && !cancelled) {
    next->encode(vectors_, std::min(nodes(), next->encoded() + RECENTRE_TAIL));
  }
  if (cancelled) return false;
  std::lock_guard lock(writer);
  next->encode(vectors_, nodes());
  quantized_.store(std::move(next));
  return true;
}

bool Shard::isGrowing(uint32_t graphed, uint32_t pending) const {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point grownAt{Clock::duration{grownAt_.load(std::memory_order_relaxed)}};
  return pending < graphed / GENERATION_SHARE && Clock::now() - grownAt < SETTLED;
}

uint32_t Shard::pendingNodes() const {
  const std::shared_ptr<const QuantizedIndex> current = quantized();
  if (!current || current->encoded() < graphNodes()) return 0;
  const std::shared_ptr<const Graph> graph = current->graph();
  return current->encoded() - (graph ? graph->size() : 0);
}

bool Shard::growGraph(unsigned threads, const std::atomic<bool>& cancelled) {
  const uint32_t pending = pendingNodes();
  if (pending == 0) return false;
  const std::shared_ptr<QuantizedIndex> current = quantized_.load();
  const std::shared_ptr<const Graph> graph = current->graph();
  const uint32_t graphed = graph ? graph->size() : 0;
  if (isGrowing(graphed, pending)) return false;
  const uint32_t added = std::min(pending, std::max(GENERATION_NODES, graphed));
  return current->growGraph(graphed + added, threads, cancelled);
}

bool Shard::calibrate(const std::atomic<bool>& cancelled) {
  const std::shared_ptr<QuantizedIndex> current = quantized_.load();
  if (!current || !current->graph()) return false;
  return current->calibrate(vectors_, recalibrate_.exchange(false), cancelled);
}

ShardStats Shard::stats() const {
  const uint64_t chunkRow =
      ids_.rowBytes() + textLocations_.rowBytes() + nodeOf_.rowBytes() + next_.rowBytes();
  ShardStats numbers{};
  numbers.vectorBytes = vectors_.vectorBytes();
  numbers.renderedBytes = texts_.bytes();
  numbers.idBytes = rows() * chunkRow + nodes() * heads_.rowBytes() +
                    vectors_.bookkeepingBytes() + versions_.bytes();
  if (const auto current = quantized()) {
    numbers.codeBytes =
        uint64_t{nodes()} * (current->codes1Bit.rowBytes() + current->refinements.rowBytes());
    numbers.effort = current->effort();
    if (const auto graph = current->graph()) {
      numbers.graphBytes = graph->bytes();
      numbers.graphed = graph->size();
    }
  }
  return numbers;
}

}  // namespace tessera
