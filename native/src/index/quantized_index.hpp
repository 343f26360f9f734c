// The codes of all nodes of an index and the graph over them, which together find candidates. All
// of it derives from the full vectors and can be rebuilt from them.
#pragma once
#include <atomic>
#include <memory>

#include "codes/rabitq_quantizer.hpp"
#include "graph/graph.hpp"
#include "index/search_effort.hpp"
#include "index/vector_table.hpp"
#include "storage/column.hpp"

namespace tessera {

/// Nodes from which an index has a graph. Below, a scan of the codes is as fast.
inline constexpr uint32_t GRAPH_MIN_NODES = 4096;

class Calibration;

class QuantizedIndex {
 public:
  explicit QuantizedIndex(uint32_t dimension);
  ~QuantizedIndex();

  /// Sets the centre to the mean of the first `nodes` vectors.
  void computeCentre(const VectorTable& vectors, uint32_t nodes);
  /// Encodes the nodes [encoded, nodes). Writer only.
  void encode(const VectorTable& vectors, uint32_t nodes);
  /// Inserts up to `maxNodes` encoded nodes into the graph and returns how many are left. When none
  /// is left it calibrates the effort, one slice per call, and returns 1 until that is done.
  uint32_t extendGraph(const VectorTable& vectors, uint32_t maxNodes);

  RabitqQuantizer quantizer;
  Column codes1Bit;
  Column codes4Bit;
  Graph graph;
  uint32_t encoded = 0;
  /// Nodes that the centre was computed from.
  uint32_t centreNodes = 0;
  /// Nodes when the effort was last measured; 0 before the first measurement.
  uint32_t calibratedNodes = 0;

  /// What searches use: the defaults until calibration has measured what the data needs.
  SearchEffort effort() const { return *effort_.load(std::memory_order_acquire); }
  void setEffort(const SearchEffort& effort) {
    effort_.store(std::make_shared<const SearchEffort>(effort), std::memory_order_release);
  }

 private:
  uint32_t calibrate(const VectorTable& vectors);

  std::atomic<std::shared_ptr<const SearchEffort>> effort_{std::make_shared<const SearchEffort>()};

  /// The measurement in progress.
  std::unique_ptr<Calibration> calibration_;
};

}  // namespace tessera
