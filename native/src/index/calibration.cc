#include "index/calibration.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>

#include "index/code_scan.hpp"
#include "index/rerank.hpp"

namespace tessera {

/// A call of `advance` ends soon after this time.
static constexpr std::chrono::milliseconds SLICE{10};
static constexpr uint32_t PROBES = 96;
static constexpr size_t NEIGHBOURS = 10;
/// Share of the true neighbours that searches must find.
static constexpr double TARGET_RECALL = 0.995;
static constexpr uint32_t EF_STEPS[] = {32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024};
/// Below every cosine: excludes nothing.
static constexpr double NO_MIN_SCORE = -2;

Calibration::Probe Calibration::makeProbe(const VectorTable& vectors,
                                          const QuantizedIndex& quantized, uint32_t node) {
  Probe probe;
  encodeBetween(vectors, quantized, probe, node, node);
  quantized.graph.search(probe.query, DEFAULT_EF, scratch_);
  const auto& near = scratch_.queue.entries();
  encodeBetween(vectors, quantized, probe, node, near[near.size() / 2].node);
  std::vector<Candidate> candidates;
  CodeScan scan(quantized, probe.query, NEIGHBOURS, NO_MIN_SCORE, candidates);
  for (uint32_t other = 0; other < nodes_; other++) scan.add(other);
  scan.finish();
  rerank(vectors, quantized, probe, candidates);
  const size_t last = std::min(NEIGHBOURS, scores_.size()) - 1;
  std::nth_element(scores_.begin(), scores_.begin() + static_cast<long>(last), scores_.end(),
                   std::greater<>());
  probe.minScore = scores_[last];
  return probe;
}

void Calibration::encodeBetween(const VectorTable& vectors, const QuantizedIndex& quantized,
                                Probe& probe, uint32_t a, uint32_t b) {
  const uint32_t dimension = vectors.dimension();
  probe.vector.resize(dimension);
  for (uint32_t i = 0; i < dimension; i++) {
    probe.vector[i] = static_cast<float>(vectors.vector(a)[i] * vectors.inverseNorm(a) +
                                         vectors.vector(b)[i] * vectors.inverseNorm(b));
  }
  double squares = kernels().dot(probe.vector.data(), probe.vector.data(), dimension);
  if (squares == 0) {
    // Opposite vectors have no midpoint: use the first.
    std::copy_n(vectors.vector(a), dimension, probe.vector.begin());
    squares = kernels().dot(probe.vector.data(), probe.vector.data(), dimension);
  }
  probe.inverseNorm = 1 / std::sqrt(squares);
  std::vector<float> prepared(dimension);
  quantized.quantizer.prepare(probe.vector.data(), probe.inverseNorm, prepared.data());
  quantized.quantizer.encodeQuery(prepared.data(), probe.query);
}

void Calibration::rerank(const VectorTable& vectors, const QuantizedIndex& quantized,
                         const Probe& probe, std::vector<Candidate>& candidates) {
  scores_.clear();
  std::erase_if(candidates, [&](const Candidate& entry) { return entry.node >= nodes_; });
  rerankBy4BitCodes(quantized, probe.query, NO_MIN_SCORE, NEIGHBOURS, candidates);
  rerankByVectors(
      vectors, quantized, probe.query, probe.vector.data(), probe.inverseNorm, candidates,
      [this](uint32_t, double score) { scores_.push_back(score); }, [] { return NO_MIN_SCORE; });
}

bool Calibration::step(const VectorTable& vectors, const QuantizedIndex& quantized) {
  if (probes_.size() < PROBES) {
    const auto node = static_cast<uint32_t>(uint64_t{probes_.size()} * nodes_ / PROBES);
    probes_.push_back(makeProbe(vectors, quantized, node));
    return false;
  }
  const Probe& probe = probes_[probe_++];
  quantized.graph.search(probe.query, EF_STEPS[efStep_], scratch_);
  rerank(vectors, quantized, probe, scratch_.queue.entries());
  found_ += std::min(NEIGHBOURS, static_cast<size_t>(std::count_if(
                                     scores_.begin(), scores_.end(),
                                     [&](double score) { return score >= probe.minScore; })));
  if (probe_ < PROBES) return false;
  const double recall = static_cast<double>(found_) / (PROBES * NEIGHBOURS);
  if (recall >= TARGET_RECALL || efStep_ + 1 == std::size(EF_STEPS)) return true;
  efStep_++;
  probe_ = found_ = 0;
  return false;
}

bool Calibration::advance(const VectorTable& vectors, const QuantizedIndex& quantized) {
  const auto until = std::chrono::steady_clock::now() + SLICE;
  while (std::chrono::steady_clock::now() < until) {
    if (step(vectors, quantized)) return true;
  }
  return false;
}

uint32_t Calibration::ef() const { return EF_STEPS[efStep_]; }

}  // namespace tessera
