// Measuring the effort that graph searches need for the data at hand.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "graph/graph.hpp"
#include "index/quantized_index.hpp"
#include "index/search_effort.hpp"

namespace tessera {

/// Finds the windows with which walks reach the target recall on probes of each kind. A probe is a vector of the
/// index that is hidden from the walk, as if it were new, or a mixture of unrelated vectors, which is farther from
/// the data. The calibration is deterministic. It takes long, and ignores vectors that are added meanwhile.
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
  /// Returns false if it was cancelled.
  bool run(const std::atomic<bool>& cancelled);
  /// The result of a complete measurement.
  const SearchEffort& effort() const { return effort_; }

 private:
  struct Probe {
    std::vector<float> vector;
    double inverseNorm;
    QuantizedQuery query;
    /// The nodes of the vectors that the probe is made from.
    uint32_t hidden[2];
    /// The score of the last true neighbour, for each of EFFORT_LIMITS.
    double minScores[2];
  };

  /// The result of one window: the lowest mean recall of a kind of probes, the mean recall of the hidden vectors,
  /// and the estimates of a walk.
  struct Trial {
    float window;
    float recall;
    float hiddenRecall;
    float estimates;
  };

  static uint32_t probeCount(uint32_t nodes);
  Probe makeProbe(uint32_t number);
  void findTruth(Probe& probe);
  /// Measures one of EFFORT_LIMITS. Returns false if it was cancelled.
  bool measure(size_t limit);
  /// The window with which the probes of each kind reach the target; std::nullopt if it was cancelled.
  std::optional<Trial> tune(size_t limit);
  std::optional<Trial> tryWindow(size_t limit, float window);
  /// Returns the recall of a probe with one window, and counts its work.
  double runProbe(const Probe& probe, size_t limit, float window, WalkWork& work);
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
  const std::atomic<bool>* cancelled_ = nullptr;
};

}  // namespace tessera
