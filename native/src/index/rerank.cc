#include "index/rerank.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace tessera {

/// A lambda, because sorting inlines it.
static constexpr auto isBetter = [](const Candidate& a, const Candidate& b) {
  return a.estimate > b.estimate;
};

/// The errors of two estimates rarely add up: the margin of their difference is the margin of one estimate times
/// the square root of two. A candidate has one margin of its own, so the scores that it must reach have the rest.
static constexpr float SURE_SHARE = 0.414f;

namespace {

/// The lowest of the `limit` best scores that candidates are likely to reach.
class Cutoff {
 public:
  Cutoff(double minScore, size_t limit) : minScore_(static_cast<float>(minScore)), limit_(limit) {
    best_.reserve(limit);
  }

  float minScore() const { return minScore_; }

  void add(float lowerBound) {
    if (best_.size() == limit_) {
      if (lowerBound <= best_.front()) return;
      std::pop_heap(best_.begin(), best_.end(), std::greater<>());
      best_.back() = lowerBound;
    } else {
      best_.push_back(lowerBound);
    }
    std::push_heap(best_.begin(), best_.end(), std::greater<>());
    if (best_.size() == limit_) minScore_ = std::max(minScore_, best_.front());
  }

 private:
  float minScore_;
  const size_t limit_;
  /// A heap with the lowest on top.
  std::vector<float> best_;
};

/// Sorts candidates by bound, best first, but keeps the order of candidates with nearly the same bound, which is
/// cheaper.
void orderRoughly(std::vector<Candidate>& candidates) {
  static constexpr size_t BUCKETS = 64;
  static thread_local std::vector<Candidate> ordered;
  if (candidates.empty()) return;
  const auto [first, last] = std::minmax_element(candidates.begin(), candidates.end(), isBetter);
  const float best = first->estimate, range = best - last->estimate;
  if (!(range > 0) || !std::isfinite(range)) return;
  // A share of the range is at most 1 even for a tiny range, so every bucket exists.
  const auto bucketOf = [&](const Candidate& entry) {
    return static_cast<size_t>((best - entry.estimate) / range * (BUCKETS - 1));
  };
  size_t ends[BUCKETS + 1] = {0};
  for (const Candidate& entry : candidates) ends[bucketOf(entry) + 1]++;
  for (size_t i = 0; i < BUCKETS; i++) ends[i + 1] += ends[i];
  ordered.resize(candidates.size());
  for (const Candidate& entry : candidates) ordered[ends[bucketOf(entry)]++] = entry;
  candidates.swap(ordered);
}

}  // namespace

size_t rerankBy3BitCodes(const QuantizedIndex& quantized, const QuantizedQuery& query, float margin,
                         double minScore, size_t limit, std::vector<Candidate>& candidates) {
  /// Candidates whose codes are on their way from memory.
  static constexpr size_t AHEAD = 16;
  const Codes codes = quantized.codes();
  Cutoff cutoff(minScore, limit);
  size_t taken = 0, ranked = 0;
  const auto marginOf = [&](uint32_t node) {
    return margin * quantized.quantizer.error3Bit(query, quantized.codes1Bit.row(node));
  };
  const auto rankNext = [&] {
    Candidate& entry = candidates[ranked++];
    entry.estimate = quantized.quantizer.estimate3Bit(query, codes.code3Bit(entry.node));
    cutoff.add(entry.estimate - SURE_SHARE * marginOf(entry.node));
  };
  orderRoughly(candidates);
  for (size_t i = 0; i < candidates.size(); i++) {
    if (candidates[i].estimate < cutoff.minScore()) continue;
    candidates[taken++] = candidates[i];
    codes.prefetch3Bit(candidates[taken - 1].node);
    if (taken == ranked + AHEAD) rankNext();
  }
  while (ranked < taken) rankNext();
  candidates.resize(taken);
  std::erase_if(candidates, [&](const Candidate& entry) {
    return entry.estimate + marginOf(entry.node) < cutoff.minScore();
  });
  std::sort(candidates.begin(), candidates.end(), isBetter);
  return taken;
}

}  // namespace tessera
