// Measuring the ef that graph searches need for the data at hand.
#pragma once
#include <cstdint>
#include <vector>

#include "graph/graph.hpp"

namespace tessera {

class QuantizedIndex;
class VectorTable;

/// Finds the smallest ef with which graph searches reach the target recall near a sample of the
/// vectors. It is deterministic. It takes long and is therefore done in slices; vectors that are
/// added meanwhile are ignored.
class Calibration {
 public:
  explicit Calibration(uint32_t nodes) : nodes_(nodes) {}

  uint32_t nodes() const { return nodes_; }
  /// Works for some milliseconds and returns whether the measurement is complete.
  bool advance(const VectorTable& vectors, const QuantizedIndex& quantized);
  /// The result of a complete measurement.
  uint32_t ef() const;

 private:
  /// A query near the data: halfway between a vector and one of its neighbours.
  struct Probe {
    std::vector<float> vector;
    double inverseNorm;
    QuantizedQuery query;
    /// The score of the last true neighbour.
    double minScore;
  };

  bool step(const VectorTable& vectors, const QuantizedIndex& quantized);
  Probe makeProbe(const VectorTable& vectors, const QuantizedIndex& quantized, uint32_t node);
  /// Makes the probe the normalised sum of the vectors of two nodes.
  void encodeBetween(const VectorTable& vectors, const QuantizedIndex& quantized, Probe& probe,
                     uint32_t a, uint32_t b);
  /// Fills `scores_` with the exact scores of the best candidates.
  void rerank(const VectorTable& vectors, const QuantizedIndex& quantized, const Probe& probe,
              std::vector<Candidate>& candidates);

  uint32_t nodes_;
  GraphScratch scratch_;
  std::vector<Probe> probes_;
  std::vector<double> scores_;
  /// The ef that is tried now, the next probe for it, and the neighbours that earlier probes found.
  size_t efStep_ = 0;
  size_t probe_ = 0;
  size_t found_ = 0;
};

}  // namespace tessera
