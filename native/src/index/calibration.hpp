// Measuring the effort that graph searches need for the data at hand.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "graph/graph.hpp"
#include "index/quantized_index.hpp"
#include "index/search_effort.hpp"

namespace tessera {

/// Finds the smallest windows with which walks reach the target recall on probes: vectors of the index
/// that the walk does not see, as if they were new, and mixtures of unrelated vectors, which are
/// farther from the data. It is deterministic. It takes long; vectors that
/// are added meanwhile are ignored.
class Calibration {
 public:
  /// The graph must exist.
  Calibration(const VectorTable& vectors, const QuantizedIndex& quantized)
      : vectors_(vectors),
        quantized_(quantized),
        graph_(quantized.graph()),
        nodes_(graph_->size()),
        probeCount_(probeCount(nodes_)) {}

  uint32_t nodes() const { return nodes_; }
  /// Returns false when it was cancelled.
  bool run(const std::atomic<bool>& cancelled);
  /// The result of a complete measurement.
  const SearchEffort& effort() const { return effort_; }

 private:
  struct Probe {
    std::vector<float> vector;
    double inverseNorm;
    QuantizedQuery query;
    /// The nodes that the vector comes from.
    uint32_t hidden[2];
    /// The score of the last true neighbour, for each of EFFORT_LIMITS.
    double minScores[2];
  };
  /// Recall of the probes of one kind with one window.
  struct Recall {
    double sum = 0, squares = 0;
    uint32_t probes = 0;
    void add(double recall);
    double mean() const { return sum / probes; }
    /// The recall that the data has with 95% confidence.
    double lowerBound() const;
  };

  /// What all probes gave with one window.
  struct Trial {
    float window;
    float estimates;
    /// The lower bound of the recall of held-out vectors, and the recall of mixtures.
    double heldOut;
    double mixtures;
  };

  static uint32_t probeCount(uint32_t nodes);
  /// Does the smallest piece of work; returns whether the measurement is complete.
  bool step();
  Probe makeProbe(uint32_t number);
  void findTruth(Probe& probe);
  void runProbe(const Probe& probe);
  /// Judges a window once all probes have run with it. Returns whether all limits are done.
  bool finishWindow();
  /// Takes the last trial if it reached all targets, else the cheapest that does about as well.
  void choose(bool lastReached);
  float window() const;
  /// Fills `scores_` with the exact scores of the best candidates.
  void rerank(const Probe& probe, size_t limit);

  const VectorTable& vectors_;
  const QuantizedIndex& quantized_;
  const std::shared_ptr<const Graph> graph_;
  const uint32_t nodes_;
  const uint32_t probeCount_;
  SearchEffort effort_;
  GraphScratch scratch_;
  std::vector<Candidate> candidates_;
  std::vector<double> scores_;
  std::vector<Probe> probes_;
  /// The limit and the probe that are tried now, and the windows that were tried for the limit.
  size_t limit_ = 0;
  size_t probe_ = 0;
  std::vector<Trial> trials_;
  /// Of held-out vectors and of mixtures, with the window that is tried now.
  Recall recalls_[2];
  WalkWork work_;
};

}  // namespace tessera
