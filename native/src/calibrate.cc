#include "calibrate.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "candidates.hpp"

namespace tessera {

static constexpr uint32_t SAMPLE = 96;
static constexpr size_t NEIGHBOURS = 10;
/// Share of the true neighbours that a search must find.
static constexpr double TARGET_RECALL = 0.995;
static constexpr uint32_t EXPANSIONS[] = {32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024};

namespace {

/// A query near the data: halfway between a vector and one of its neighbours.
struct Probe {
  std::vector<float> vector;
  double inverseNorm;
  CodedQuery query;
  /// The score of the last true neighbour.
  double bar;
};

class Measurement {
 public:
  Measurement(const Index& index, const Sketch& sketch) : index_(index), sketch_(sketch) {
    const uint32_t nodes = sketch.graph.size();
    for (uint32_t i = 0; i < SAMPLE; i++) {
      probes_.push_back(makeProbe(static_cast<uint32_t>(uint64_t{i} * nodes / SAMPLE)));
    }
  }

  double recallAt(uint32_t expansion) {
    size_t found = 0, wanted = 0;
    for (const Probe& probe : probes_) {
      sketch_.graph.search(probe.query, expansion, scratch_);
      rank(probe, scratch_.pool.entries());
      wanted += NEIGHBOURS;
      found += std::min(NEIGHBOURS, static_cast<size_t>(std::count_if(
                                        scores_.begin(), scores_.end(),
                                        [&](double score) { return score >= probe.bar; })));
    }
    return static_cast<double>(found) / static_cast<double>(wanted);
  }

 private:
  Probe makeProbe(uint32_t node) {
    Probe probe;
    code(probe, node, node);
    sketch_.graph.search(probe.query, DEFAULT_EXPANSION, scratch_);
    const auto& near = scratch_.pool.entries();
    code(probe, node, near[near.size() / 2].node);
    std::vector<Candidate> members;
    CodeScan scan(sketch_, probe.query, NEIGHBOURS, -2, members);
    for (uint32_t other = 0; other < sketch_.graph.size(); other++) scan.add(other);
    scan.finish();
    rank(probe, members);
    const size_t last = std::min(NEIGHBOURS, scores_.size()) - 1;
    std::nth_element(scores_.begin(), scores_.begin() + static_cast<long>(last), scores_.end(),
                     std::greater<>());
    probe.bar = scores_[last];
    return probe;
  }

  void code(Probe& probe, uint32_t a, uint32_t b) {
    const uint32_t dimension = index_.dimension();
    probe.vector.resize(dimension);
    for (uint32_t i = 0; i < dimension; i++) {
      probe.vector[i] = static_cast<float>(index_.vector(a)[i] * index_.inverseNorm(a) +
                                           index_.vector(b)[i] * index_.inverseNorm(b));
    }
    double squares = kernels().dot(probe.vector.data(), probe.vector.data(), dimension);
    if (squares == 0) {
      // The two are opposite: stay at the first.
      std::copy_n(index_.vector(a), dimension, probe.vector.begin());
      squares = kernels().dot(probe.vector.data(), probe.vector.data(), dimension);
    }
    probe.inverseNorm = 1 / std::sqrt(squares);
    std::vector<float> prepared(dimension);
    sketch_.book.prepare(probe.vector.data(), probe.inverseNorm, prepared.data());
    sketch_.book.encodeQuery(prepared.data(), probe.query);
  }

  void rank(const Probe& probe, std::vector<Candidate>& candidates) {
    scores_.clear();
    refineCandidates(sketch_, probe.query, -2, NEIGHBOURS, candidates);
    rankCandidates(
        index_, sketch_, probe.query, probe.vector.data(), probe.inverseNorm, candidates,
        [this](uint32_t, double score) { scores_.push_back(score); }, [] { return -2.0; });
  }

  const Index& index_;
  const Sketch& sketch_;
  GraphScratch scratch_;
  std::vector<Probe> probes_;
  std::vector<double> scores_;
};

}  // namespace

uint32_t measureExpansion(const Index& index, const Sketch& sketch) {
  Measurement measurement(index, sketch);
  for (const uint32_t expansion : EXPANSIONS) {
    if (measurement.recallAt(expansion) >= TARGET_RECALL) return expansion;
  }
  return std::end(EXPANSIONS)[-1];
}

}  // namespace tessera
