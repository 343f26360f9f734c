#include "index/calibration.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "graph/walk.hpp"
#include "index/code_scan.hpp"
#include "index/rerank.hpp"

namespace tessera {

/// Probes; every other one is a mixture.
static constexpr uint32_t MAX_PROBES = 512;
/// Nodes per probe at least; the probes of a tiny graph would be much the same.
static constexpr uint32_t PROBE_NODES = 8;
static_assert(GRAPH_MIN_NODES >= MAX_PROBES * PROBE_NODES, "only tests have graphs of fewer probes");
/// Weights of the second vector of mixtures, in turn. With the first one a probe remains nearest to its
/// first vector, with the second one it is as near to either, whose neighbours may be far apart.
static constexpr float MIXTURE_WEIGHTS[] = {0.5f, 1.0f};
/// Windows that are tried, as factors of the default ones, narrowest first. Narrower ones save few of the
/// estimates, and queries then find less than probes, whose neighbours were linked around them.
static constexpr float WINDOW_FACTORS[] = {0.2f, 0.3f, 0.4f, 0.55f, 0.7f, 0.85f, 1.0f, 1.2f, 1.5f, 1.9f};
/// The mean recall of probes that a window must reach, for each of EFFORT_LIMITS. Queries of a few words
/// need a little more than probes, and the more the longer their list is, so it is above the 0.99 that
/// they are to have.
static constexpr float TARGET_RECALL[] = {0.9935f, 0.9955f};
/// The recall of the probes that are near to the data without which searches scan instead.
static constexpr float SUFFICIENT_RECALL = 0.96f;
/// A gain in recall that is not worth a wider window, where none reaches the target: the neighbours of a
/// probe can be in places without a path between.
static constexpr float PLATEAU = 0.005f;

uint32_t Calibration::probeCount(uint32_t nodes) {
  return std::clamp(nodes / PROBE_NODES, 2u, MAX_PROBES);
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
  const float share = MIXTURE_WEIGHTS[number / 2 % std::size(MIXTURE_WEIGHTS)];
  const auto weight = static_cast<float>(mixture ? share * vectors_.inverseNorm(other) : 0);
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
  const float margin = RabitqQuantizer::ERROR_MARGIN;
  rerankBy3BitCodes(quantized_, probe.query, margin, -2, limit, candidates_);
  rerankByVectors(
      vectors_, quantized_, probe.query, margin, probe.vector.data(), probe.inverseNorm, candidates_,
      [this](uint32_t, double score) { scores_.push_back(score); }, [] { return -2.0; });
}

double Calibration::runProbe(Probe& probe, size_t limit, float window, WalkWork& work) {
  const auto wanted = static_cast<size_t>(EFFORT_LIMITS[limit]);
  const WalkParameters parameters{.limit = wanted,
                                  .window = {window, window, 0},
                                  .maxEstimates = nodes_,
                                  .hidden = {probe.hidden[0], probe.hidden[1]}};
  graph_->walk(
      quantized_.codes(), probe.query, parameters, [this](uint32_t node) { return node < nodes_; },
      scratch_, candidates_, work);
  rerank(probe, wanted);
  const auto found = std::count_if(scores_.begin(), scores_.end(), [&](double score) {
    return score >= probe.minScores[limit];
  });
  return std::min(1.0, static_cast<double>(found) / static_cast<double>(wanted));
}

/// The narrowest window that reaches the target. Recall grows ever more slowly with the window, so it is
/// above the line between two trials.
static float interpolated(float low, float high, double share) {
  return static_cast<float>(low + (high - low) * share);
}

std::optional<Calibration::Trial> Calibration::tryWindow(Probes probes, size_t limit, float window) {
  WalkWork work;
  double recall = 0;
  for (Probe* probe : probes) {
    if (*cancelled_) return std::nullopt;
    recall += runProbe(*probe, limit, window, work);
  }
  const auto count = static_cast<double>(probes.size());
  return Trial{window, static_cast<float>(recall / count),
               static_cast<float>(static_cast<double>(work.estimates) / count)};
}

std::optional<Calibration::Trial> Calibration::tune(Probes probes, size_t limit) {
  const float target = TARGET_RECALL[limit];
  std::vector<Trial> trials;
  for (const float factor : WINDOW_FACTORS) {
    const auto trial = tryWindow(probes, limit, SearchEffort{}.window[limit].near * factor);
    if (!trial) return std::nullopt;
    trials.push_back(*trial);
    if (trial->recall < target) continue;
    if (trials.size() == 1) return trial;
    const Trial& before = trials[trials.size() - 2];
    const double share = (target - before.recall) / (trial->recall - before.recall);
    return Trial{interpolated(before.window, trial->window, share), target,
                 interpolated(before.estimates, trial->estimates, share)};
  }
  float best = 0;
  for (const Trial& trial : trials) best = std::max(best, trial.recall);
  return *std::find_if(trials.begin(), trials.end(),
                       [&](const Trial& trial) { return trial.recall >= best - PLATEAU; });
}

bool Calibration::measure(size_t limit) {
  std::vector<Probe*> probes;
  for (Probe& probe : probes_) {
    if (*cancelled_) return false;
    WalkWork work;
    runProbe(probe, limit, SearchEffort{}.window[limit].near, work);
    probe.lastEstimate = work.lastEstimate;
    probes.push_back(&probe);
  }
  // Half of the probes are nearer to their neighbours than the others.
  const size_t half = probes.size() / 2;
  const auto middle = probes.begin() + static_cast<ptrdiff_t>(half);
  std::nth_element(probes.begin(), middle, probes.end(), [](const Probe* a, const Probe* b) {
    return a->lastEstimate > b->lastEstimate;
  });
  const std::optional<Trial> near = tune(Probes(probes).first(half), limit);
  if (!near) return false;
  const std::optional<Trial> far = tune(Probes(probes).subspan(half), limit);
  if (!far) return false;
  // Queries may be farther from the data than any probe, so they have at least the default window.
  const float least = SearchEffort{}.window[limit].far;
  effort_.window[limit] = {near->window, std::max(far->window, least),
                           (*middle)->lastEstimate};
  effort_.estimates[limit] = static_cast<float>((near->estimates + far->estimates) / 2);
  effort_.sufficient[limit] = near->recall >= SUFFICIENT_RECALL;
  return true;
}

bool Calibration::run(const std::atomic<bool>& cancelled) {
  cancelled_ = &cancelled;
  while (probes_.size() < probeCount_) {
    if (cancelled) return false;
    probes_.push_back(makeProbe(static_cast<uint32_t>(probes_.size())));
  }
  for (size_t limit = 0; limit < std::size(EFFORT_LIMITS); limit++) {
    if (!measure(limit)) return false;
  }
  return true;
}

}  // namespace tessera
