// The codes of all nodes of a shard and the graph over them, which together find candidates. Both are
// derived from the full vectors and can be rebuilt from them.
#pragma once
#include <atomic>
#include <memory>

#include "codes/rabitq_quantizer.hpp"
#include "common/published.hpp"
#include "graph/graph.hpp"
#include "index/search_effort.hpp"
#include "index/vector_table.hpp"
#include "storage/column.hpp"

namespace tessera {

/// Minimum number of nodes for a graph. In a smaller shard, a scan of the codes is as fast.
inline constexpr uint32_t GRAPH_MIN_NODES = 4096;

class QuantizedIndex {
 public:
  explicit QuantizedIndex(uint32_t dimension);

  /// Sets the centre to the mean of the first `nodes` vectors.
  void computeCentre(const VectorTable& vectors, uint32_t nodes);
  /// Encodes the nodes [encoded, nodes). One thread at a time.
  void encode(const VectorTable& vectors, uint32_t nodes);
  uint32_t encoded() const { return encoded_.load(std::memory_order_acquire); }

  /// Publishes a generation of the graph with the nodes [0, nodes). Returns false if it was cancelled.
  bool growGraph(uint32_t nodes, unsigned threads, const std::atomic<bool>& cancelled);
  /// The current generation; null before the first.
  std::shared_ptr<const Graph> graph() const { return graph_.load(); }
  Codes codes() const { return {quantizer, codes1Bit, refinements}; }

  /// Measures the effort if the graph has grown by a quarter since the last time, or if `forced`.
  /// Returns whether it did.
  bool calibrate(const VectorTable& vectors, bool forced, const std::atomic<bool>& cancelled);
  /// The settings of searches: the defaults until calibration has measured the data.
  SearchEffort effort() const { return *effort_.load(); }

  RabitqQuantizer quantizer;
  Column codes1Bit;
  Column refinements;
  /// Number of nodes when the centre was computed.
  uint32_t centreNodes = 0;

 private:
  friend class SnapshotCodec;

  std::atomic<uint32_t> encoded_{0};
  /// Nodes when the effort was last measured; 0 before the first measurement.
  std::atomic<uint32_t> calibratedNodes_{0};
  Published<const Graph> graph_;
  Published<const SearchEffort> effort_{std::make_shared<const SearchEffort>()};
};

}  // namespace tessera
