// How many candidates a graph search must keep for the data at hand.
#pragma once
#include <cstdint>
#include <vector>

#include "graph.hpp"

namespace tessera {

class Index;
class Sketch;

/// Measures the recall of graph searches near a sample of the vectors, to find the smallest expansion
/// that reaches the target. The same data gives the same answer. A measurement takes long, so it is
/// made in steps; vectors that come meanwhile are left out of it.
class Calibration {
 public:
  explicit Calibration(uint32_t nodes) : nodes_(nodes) {}

  uint32_t nodes() const { return nodes_; }
  /// Goes on for some milliseconds; true when the measurement is complete.
  bool advance(const Index& index, const Sketch& sketch);
  /// The result, once complete.
  uint32_t expansion() const;

 private:
  /// A query near the data: halfway between a vector and one of its neighbours.
  struct Probe {
    std::vector<float> vector;
    double inverseNorm;
    CodedQuery query;
    /// The score of the last true neighbour.
    double bar;
  };

  bool step(const Index& index, const Sketch& sketch);
  Probe makeProbe(const Index& index, const Sketch& sketch, uint32_t node);
  void code(const Index& index, const Sketch& sketch, Probe& probe, uint32_t a, uint32_t b);
  void rank(const Index& index, const Sketch& sketch, const Probe& probe,
            std::vector<Candidate>& candidates);

  uint32_t nodes_;
  GraphScratch scratch_;
  std::vector<Probe> probes_;
  std::vector<double> scores_;
  /// The expansion that is being tried, the next probe for it, and what the earlier ones found.
  size_t attempt_ = 0;
  size_t probe_ = 0;
  size_t found_ = 0;
};

}  // namespace tessera
