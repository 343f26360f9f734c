#include "index/calibration.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "graph/walk.hpp"
#include "index/code_scan.hpp"
#include "index/rerank.hpp"

namespace tessera {

/// Probes; every other one is a mixture.
static constexpr uint32_t MAX_PROBES = 384;
/// Nodes per probe at least; the probes of a tiny graph would be much the same.
static constexpr uint32_t PROBE_NODES = 10;
static_assert(GRAPH_MIN_NODES >= MAX_PROBES * PROBE_NODES, "only tests have graphs of fewer probes");
/// Weight of the second vector of a mixture. The first one remains the nearest.
static constexpr float MIXTURE_WEIGHT = 0.5f;
/// Windows that are tried, as factors of the default ones, cheapest first.
static constexpr float WINDOW_FACTORS[] = {0.1f, 0.15f, 0.2f, 0.3f, 0.4f, 0.55f, 0.7f, 0.85f, 1.0f, 1.2f, 1.5f, 1.9f};
/// The recall that a window must reach for each of EFFORT_LIMITS, with 95% confidence: of held-out
/// vectors, then of mixtures. Probes are harder than queries, because links of their neighbours lead
/// to the hidden vectors, so the default window passes with less than the recall that queries have.
static constexpr double TARGET_RECALLS[][2] = {{0.97, 0.93}, {0.985, 0.98}};
/// The same for windows narrower than the default, which are for data that is clearly easier.
static constexpr double NARROW_TARGET_RECALLS[][2] = {{0.985, 0.965}, {0.99, 0.99}};
/// The recall of held-out vectors, with 95% confidence, without which searches scan instead.
static constexpr double SUFFICIENT_RECALL = 0.96;
/// A gain in the recall of mixtures that is not worth a wider window.
static constexpr double MIXTURE_PLATEAU = 0.005;
/// Standard errors of the mean below it that leave 5% of a normal distribution.
static constexpr double ONE_SIDED_95 = 1.645;

uint32_t Calibration::probeCount(uint32_t nodes) {
  return std::clamp(nodes / PROBE_NODES, 2u, MAX_PROBES);
}

void Calibration::Recall::add(double recall) {
  sum += recall;
  squares += recall * recall;
  probes++;
}

double Calibration::Recall::lowerBound() const {
  const double variance = std::max(0.0, squares / probes - mean() * mean());
  return mean() - ONE_SIDED_95 * std::sqrt(variance / probes);
}

Calibration::Probe Calibration::makeProbe(uint32_t number) {
  const uint32_t dimension = vectors_.dimension();
  const auto node = static_cast<uint32_t>(uint64_t{number} * nodes_ / probeCount_);
  // Half the nodes away, so unrelated even where vectors arrive sorted by topic.
  const uint32_t other = (node + nodes_ / 2) % nodes_;
  const bool mixture = number % 2 == 1;
  Probe probe;
  probe.hidden[0] = node;
  probe.hidden[1] = mixture ? other : NONE;
  probe.vector.resize(dimension);
  const auto weight = static_cast<float>(mixture ? MIXTURE_WEIGHT * vectors_.inverseNorm(other) : 0);
  for (uint32_t i = 0; i < dimension; i++) {
    probe.vector[i] = static_cast<float>(vectors_.vector(node)[i] * vectors_.inverseNorm(node)) +
                      weight * vectors_.vector(other)[i];
  }
  probe.inverseNorm =
      1 / std::sqrt(kernels().dot(probe.vector.data(), probe.vector.data(), dimension));
  std::vector<float> prepared(dimension);
  RabitqQuantizer::prepare(probe.vector.data(), probe.inverseNorm, dimension, prepared.data());
  quantized_.quantizer.encodeQuery(prepared.data(), probe.query);
  findTruth(probe);
  return probe;
}

void Calibration::findTruth(Probe& probe) {
  const auto most = static_cast<size_t>(EFFORT_LIMITS[1]);
  CodeScan scan(quantized_, probe.query, most, -2, candidates_);
  for (uint32_t node = 0; node < nodes_; node++) {
    if (node != probe.hidden[0] && node != probe.hidden[1]) scan.add(node);
  }
  scan.finish();
  rerank(probe, most);
  std::sort(scores_.begin(), scores_.end(), std::greater<>());
  for (size_t i = 0; i < std::size(EFFORT_LIMITS); i++) {
    const auto rank = std::min(static_cast<size_t>(EFFORT_LIMITS[i]), scores_.size());
    probe.minScores[i] = scores_[rank - 1];
  }
}

void Calibration::rerank(const Probe& probe, size_t limit) {
  scores_.clear();
  rerankBy4BitCodes(quantized_, probe.query, -2, limit, candidates_);
  rerankByVectors(
      vectors_, quantized_, probe.query, probe.vector.data(), probe.inverseNorm, candidates_,
      [this](uint32_t, double score) { scores_.push_back(score); }, [] { return -2.0; });
}

float Calibration::window() const {
  return SearchEffort{}.window[limit_] * WINDOW_FACTORS[trials_.size()];
}

void Calibration::runProbe(const Probe& probe) {
  const auto limit = static_cast<size_t>(EFFORT_LIMITS[limit_]);
  const WalkParameters parameters{
      .limit = limit,
      .window = window(),
      .maxEstimates = nodes_,
      .hidden = {probe.hidden[0], probe.hidden[1]}};
  graph_->walk(
      quantized_.codes(), probe.query, parameters, [this](uint32_t node) { return node < nodes_; }, scratch_,
      candidates_, work_);
  rerank(probe, limit);
  const auto found = std::count_if(scores_.begin(), scores_.end(), [&](double score) {
    return score >= probe.minScores[limit_];
  });
  const double recall = static_cast<double>(found) / static_cast<double>(limit);
  recalls_[probe.hidden[1] == NONE ? 0 : 1].add(std::min(1.0, recall));
}

bool Calibration::finishWindow() {
  const Trial trial{window(), static_cast<float>(work_.estimates) / probeCount_,
                    recalls_[0].lowerBound(), recalls_[1].mean()};
  trials_.push_back(trial);
  const bool narrow = trial.window < SearchEffort{}.window[limit_];
  const auto& targets = (narrow ? NARROW_TARGET_RECALLS : TARGET_RECALLS)[limit_];
  const bool reached = trial.heldOut >= targets[0] && recalls_[1].lowerBound() >= targets[1];
  recalls_[0] = recalls_[1] = Recall{};
  work_ = WalkWork{};
  probe_ = 0;
  if (!reached && trials_.size() < std::size(WINDOW_FACTORS)) return false;
  choose(reached);
  trials_.clear();
  return ++limit_ == std::size(EFFORT_LIMITS);
}

void Calibration::choose(bool lastReached) {
  const auto byMixtures = [](const Trial& a, const Trial& b) { return a.mixtures < b.mixtures; };
  const double best = std::max_element(trials_.begin(), trials_.end(), byMixtures)->mixtures;
  auto chosen = trials_.end() - 1;
  if (!lastReached) {
    // Wider windows may not help mixtures, whose neighbours can be in places without a path between.
    const auto enough = std::find_if(trials_.begin(), trials_.end(), [&](const Trial& trial) {
      return trial.heldOut >= NARROW_TARGET_RECALLS[limit_][0] &&
             trial.mixtures >= best - MIXTURE_PLATEAU;
    });
    if (enough != trials_.end()) chosen = enough;
  }
  effort_.window[limit_] = chosen->window;
  effort_.estimates[limit_] = chosen->estimates;
  effort_.sufficient[limit_] = chosen->heldOut >= SUFFICIENT_RECALL;
}

bool Calibration::step() {
  if (probes_.size() < probeCount_) {
    probes_.push_back(makeProbe(static_cast<uint32_t>(probes_.size())));
    return false;
  }
  runProbe(probes_[probe_]);
  return ++probe_ == probeCount_ && finishWindow();
}

bool Calibration::run(const std::atomic<bool>& cancelled) {
  while (!cancelled) {
    if (step()) return true;
  }
  return false;
}

}  // namespace tessera
