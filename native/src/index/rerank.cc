#include "index/rerank.hpp"

#include <algorithm>
#include <functional>

namespace tessera {

/// Not functions, so that sorting does not call them.
static constexpr auto isBetter = [](const Candidate& a, const Candidate& b) {
  return a.estimate > b.estimate;
};
static constexpr auto isWorse = [](const Candidate& a, const Candidate& b) {
  return a.estimate < b.estimate;
};

/// The errors of two estimates rarely add up: the margin of their difference is that of one times the
/// square root of two. A candidate has one margin of its own, so those that it must reach have the rest.
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

}  // namespace

size_t rerankBy4BitCodes(const QuantizedIndex& quantized, const QuantizedQuery& query,
                         double minScore, size_t limit, std::vector<Candidate>& candidates) {
  static constexpr size_t BATCH = 8;
  const Column& codes = quantized.codes4Bit;
  Cutoff cutoff(minScore, limit);
  // In front is a heap with the highest bound on top, then the batch whose codes are on their way from
  // memory, then what was reranked.
  auto heapEnd = candidates.end();
  auto reranked = candidates.end();
  std::make_heap(candidates.begin(), heapEnd, isWorse);
  const auto takeBatch = [&] {
    for (size_t i = 0; i < BATCH && heapEnd != candidates.begin(); i++) {
      if (candidates.front().estimate < cutoff.minScore()) return;
      std::pop_heap(candidates.begin(), heapEnd--, isWorse);
      prefetch(codes.row(heapEnd->node), codes.rowBytes());
    }
  };
  takeBatch();
  while (heapEnd != reranked) {
    const auto batch = heapEnd;
    const auto batchEnd = reranked;
    takeBatch();
    for (auto entry = batch; entry != batchEnd; ++entry) {
      entry->estimate = quantized.quantizer.estimate4Bit(query, codes.row(entry->node));
      cutoff.add(entry->estimate - SURE_SHARE * margin4Bit(quantized, query, entry->node));
    }
    reranked = batch;
  }
  candidates.erase(candidates.begin(), reranked);
  const size_t read = candidates.size();
  std::erase_if(candidates, [&](const Candidate& entry) {
    return entry.estimate + margin4Bit(quantized, query, entry.node) < cutoff.minScore();
  });
  std::sort(candidates.begin(), candidates.end(), isBetter);
  return read;
}

}  // namespace tessera
