// The small, fast picture of an index that finds candidates: codes of all nodes, and a graph over
// them. It is made from the full vectors and can be made again at any time.
#pragma once
#include <atomic>
#include <memory>

#include "codebook.hpp"
#include "column.hpp"
#include "graph.hpp"

namespace tessera {

/// Nodes from which an index has a graph; below, a scan of the codes is as fast.
inline constexpr uint32_t GRAPH_MIN = 4096;
/// Candidates that a search keeps before calibration has measured how many the data needs.
inline constexpr uint32_t DEFAULT_EXPANSION = 96;

class Calibration;
class Index;

class Sketch {
 public:
  explicit Sketch(uint32_t dimension);
  ~Sketch();

  /// Takes the mean of the first `nodes` vectors of an index as the centre.
  void fit(const Index& index, uint32_t nodes);
  /// Codes the nodes from `coded` up to `nodes`. Only the writer calls it.
  void encode(const Index& index, uint32_t nodes);
  /// Inserts up to `most` coded nodes into the graph and returns how many still wait. When none is
  /// left it measures the expansion, a slice a call, and returns 1 until that is done.
  uint32_t extend(const Index& index, uint32_t most);

  Codebook book;
  Column codes;
  Column fine;
  Graph graph;
  uint32_t coded = 0;
  /// Nodes that the centre was taken from.
  uint32_t fittedTo = 0;
  /// Nodes when the expansion was measured; 0 when it was not.
  uint32_t calibratedAt = 0;
  std::atomic<uint32_t> expansion{DEFAULT_EXPANSION};

 private:
  uint32_t calibrate(const Index& index);

  /// The measurement under way.
  std::unique_ptr<Calibration> calibration;
};

}  // namespace tessera
