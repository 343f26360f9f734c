#include "calibrate.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>

#include "candidates.hpp"

namespace tessera {

/// A call that advances a measurement ends soon after this time.
static constexpr std::chrono::milliseconds SLICE{10};
static constexpr uint32_t SAMPLE = 96;
static constexpr size_t NEIGHBOURS = 10;
/// Share of the true neighbours that a search must find.
static constexpr double TARGET_RECALL = 0.995;
static constexpr uint32_t EXPANSIONS[] = {32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024};

Calibration::Probe Calibration::makeProbe(const Index& index, const Sketch& sketch,
                                          uint32_t node) {
  Probe probe;
  code(index, sketch, probe, node, node);
  sketch.graph.search(probe.query, DEFAULT_EXPANSION, scratch_);
  const auto& near = scratch_.pool.entries();
  code(index, sketch, probe, node, near[near.size() / 2].node);
  std::vector<Candidate> members;
  CodeScan scan(sketch, probe.query, NEIGHBOURS, -2, members);
  for (uint32_t other = 0; other < nodes_; other++) scan.add(other);
  scan.finish();
  rank(index, sketch, probe, members);
  const size_t last = std::min(NEIGHBOURS, scores_.size()) - 1;
  std::nth_element(scores_.begin(), scores_.begin() + static_cast<long>(last), scores_.end(),
                   std::greater<>());
  probe.bar = scores_[last];
  return probe;
}

void Calibration::code(const Index& index, const Sketch& sketch, Probe& probe, uint32_t a,
                       uint32_t b) {
  const uint32_t dimension = index.dimension();
  probe.vector.resize(dimension);
  for (uint32_t i = 0; i < dimension; i++) {
    probe.vector[i] = static_cast<float>(index.vector(a)[i] * index.inverseNorm(a) +
                                         index.vector(b)[i] * index.inverseNorm(b));
  }
  double squares = kernels().dot(probe.vector.data(), probe.vector.data(), dimension);
  if (squares == 0) {
    // The two are opposite: stay at the first.
    std::copy_n(index.vector(a), dimension, probe.vector.begin());
    squares = kernels().dot(probe.vector.data(), probe.vector.data(), dimension);
  }
  probe.inverseNorm = 1 / std::sqrt(squares);
  std::vector<float> prepared(dimension);
  sketch.book.prepare(probe.vector.data(), probe.inverseNorm, prepared.data());
  sketch.book.encodeQuery(prepared.data(), probe.query);
}

void Calibration::rank(const Index& index, const Sketch& sketch, const Probe& probe,
                       std::vector<Candidate>& candidates) {
  scores_.clear();
  std::erase_if(candidates, [&](const Candidate& entry) { return entry.node >= nodes_; });
  refineCandidates(sketch, probe.query, -2, NEIGHBOURS, candidates);
  rankCandidates(
      index, sketch, probe.query, probe.vector.data(), probe.inverseNorm, candidates,
      [this](uint32_t, double score) { scores_.push_back(score); }, [] { return -2.0; });
}

bool Calibration::step(const Index& index, const Sketch& sketch) {
  if (probes_.size() < SAMPLE) {
    const auto node = static_cast<uint32_t>(uint64_t{probes_.size()} * nodes_ / SAMPLE);
    probes_.push_back(makeProbe(index, sketch, node));
    return false;
  }
  const Probe& probe = probes_[probe_++];
  sketch.graph.search(probe.query, EXPANSIONS[attempt_], scratch_);
  rank(index, sketch, probe, scratch_.pool.entries());
  found_ += std::min(NEIGHBOURS, static_cast<size_t>(std::count_if(
                                     scores_.begin(), scores_.end(),
                                     [&](double score) { return score >= probe.bar; })));
  if (probe_ < SAMPLE) return false;
  const double recall = static_cast<double>(found_) / (SAMPLE * NEIGHBOURS);
  if (recall >= TARGET_RECALL || attempt_ + 1 == std::size(EXPANSIONS)) return true;
  attempt_++;
  probe_ = found_ = 0;
  return false;
}

bool Calibration::advance(const Index& index, const Sketch& sketch) {
  const auto until = std::chrono::steady_clock::now() + SLICE;
  while (std::chrono::steady_clock::now() < until) {
    if (step(index, sketch)) return true;
  }
  return false;
}

uint32_t Calibration::expansion() const { return EXPANSIONS[attempt_]; }

}  // namespace tessera
