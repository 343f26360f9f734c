#include "index/calibration.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "graph/walk.hpp"
#include "index/code_scan.hpp"
#include "index/rerank.hpp"

namespace tessera {

static constexpr uint32_t MAX_PROBES = 1024;
/// Minimum number of nodes per probe, because the probes of a tiny graph would be nearly equal.
static constexpr uint32_t PROBE_NODES = 4;
static_assert(GRAPH_MIN_NODES >= MAX_PROBES * PROBE_NODES, "only tests have graphs of fewer probes");
/// The kinds of probes, in turn: the weight of a second, unrelated vector in each. With 0 a probe is like the
/// data. With 0.5 it is nearest to its first vector. With 1 it is equally near to both, whose neighbours may be far
/// apart. With -0.5 it is outside the cone of the embeddings of texts, as questions are.
static constexpr float SECOND_WEIGHTS[] = {0, 0.5f, 1, -0.5f};
static constexpr size_t KINDS = std::size(SECOND_WEIGHTS);
/// Windows that are tried, as factors of the default windows, narrowest first. Queries may be farther from the data
/// than any probe, so the default is the minimum.
static constexpr float WINDOW_FACTORS[] = {1.0f, 1.2f, 1.5f, 1.9f, 2.4f, 3.0f};
/// The mean recall that the probes of each kind must reach. Queries then have a recall of 0.99, a little less than
/// probes, because the graph was built with the probes' vectors in it.
static constexpr float TARGET_RECALL = 0.9935f;
/// Minimum recall of hidden vectors. Below it, searches scan instead.
static constexpr float SUFFICIENT_RECALL = 0.96f;
/// A gain in recall that does not justify a wider window, if no window reaches the target: the neighbours of a
/// probe can be in regions without a path between them.
static constexpr float PLATEAU = 0.005f;

uint32_t Calibration::probeCount(uint32_t nodes) {
  return std::clamp(nodes / PROBE_NODES, 2u, MAX_PROBES);
}

Calibration::Probe Calibration::makeProbe(uint32_t number) {
  const uint32_t dimension = vectors_.dimension();
  const auto node = static_cast<uint32_t>(uint64_t{number} * nodes_ / probeCount_);
  // Half the nodes away, so that the vectors are unrelated even if they arrive sorted by topic.
  const uint32_t other = (node + nodes_ / 2) % nodes_;
  const float share = SECOND_WEIGHTS[number % KINDS];
  Probe probe;
  probe.hidden[0] = node;
  probe.hidden[1] = share != 0 ? other : NONE;
  probe.vector.resize(dimension);
  const auto weight = static_cast<float>(share * vectors_.inverseNorm(other));
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

double Calibration::runProbe(const Probe& probe, size_t limit, float window, WalkWork& work) {
  const auto wanted = static_cast<size_t>(EFFORT_LIMITS[limit]);
  const WalkParameters parameters{.limit = wanted,
                                  .window = window,
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

/// The narrowest window that reaches the target. The recall is above the line between two trials, because its
/// growth with the window slows down.
static float interpolated(float low, float high, double share) {
  return static_cast<float>(low + (high - low) * share);
}

std::optional<Calibration::Trial> Calibration::tryWindow(size_t limit, float window) {
  WalkWork work;
  double recalls[KINDS] = {};
  for (size_t i = 0; i < probes_.size(); i++) {
    if (*cancelled_) return std::nullopt;
    // The numbers of probes of the kinds differ by at most one.
    const size_t ofKind = (probes_.size() + KINDS - 1 - i % KINDS) / KINDS;
    recalls[i % KINDS] += runProbe(probes_[i], limit, window, work) / static_cast<double>(ofKind);
  }
  const size_t kinds = std::min(KINDS, probes_.size());
  return Trial{window, static_cast<float>(*std::min_element(recalls, recalls + kinds)),
               static_cast<float>(recalls[0]),
               static_cast<float>(static_cast<double>(work.estimates) /
                                  static_cast<double>(probes_.size()))};
}

std::optional<Calibration::Trial> Calibration::tune(size_t limit) {
  std::vector<Trial> trials;
  for (const float factor : WINDOW_FACTORS) {
    const auto trial = tryWindow(limit, SearchEffort{}.window[limit] * factor);
    if (!trial) return std::nullopt;
    trials.push_back(*trial);
    if (trial->recall < TARGET_RECALL) continue;
    if (trials.size() == 1) return trial;
    const Trial& before = trials[trials.size() - 2];
    const double share = (TARGET_RECALL - before.recall) / (trial->recall - before.recall);
    return Trial{interpolated(before.window, trial->window, share), TARGET_RECALL,
                 trial->hiddenRecall, interpolated(before.estimates, trial->estimates, share)};
  }
  float best = 0;
  for (const Trial& trial : trials) best = std::max(best, trial.recall);
  return *std::find_if(trials.begin(), trials.end(),
                       [&](const Trial& trial) { return trial.recall >= best - PLATEAU; });
}

bool Calibration::measure(size_t limit) {
  const std::optional<Trial> chosen = tune(limit);
  if (!chosen) return false;
  effort_.window[limit] = chosen->window;
  effort_.estimates[limit] = chosen->estimates;
  effort_.sufficient[limit] = chosen->hiddenRecall >= SUFFICIENT_RECALL;
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
