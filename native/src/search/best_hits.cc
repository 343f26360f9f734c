#include "search/best_hits.hpp"

#include <algorithm>
#include <cstring>

namespace tessera {

BestHits::BestHits(const ScopePart& part, uint32_t limit, double threshold, std::vector<Hit>& hits)
    : part_(part), limit_(limit), minScore_(threshold), hits_(hits) {
  hits_.clear();
}

bool BestHits::before(const Hit& a, const Hit& b) const {
  if (a.score != b.score) return a.score > b.score;
  const Index& index = *part_.index;
  return std::memcmp(&index.id(a.ordinal), &index.id(b.ordinal), sizeof(ChunkId)) < 0;
}

void BestHits::offerNode(uint32_t node, double score) {
  score = std::clamp(score, -1.0, 1.0);
  if (!(score >= minScore_)) return;
  const auto order = [this](const Hit& a, const Hit& b) { return before(a, b); };
  part_.index->forEachChunk(node, [&](uint32_t ordinal) {
    if (!part_.ordinals.has(ordinal)) return;
    const Hit hit{ordinal, score};
    if (hits_.size() == limit_) {
      if (!before(hit, hits_.front())) return;
      std::pop_heap(hits_.begin(), hits_.end(), order);
      hits_.pop_back();
    }
    hits_.push_back(hit);
    std::push_heap(hits_.begin(), hits_.end(), order);
  });
  if (hits_.size() == limit_) minScore_ = hits_.front().score;
}

void BestHits::finish() {
  std::sort_heap(hits_.begin(), hits_.end(),
                 [this](const Hit& a, const Hit& b) { return before(a, b); });
}

}  // namespace tessera
