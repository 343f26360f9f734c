#include "search/best_hits.hpp"

#include <algorithm>
#include <cstring>

namespace tessera {

static bool before(const Hit& a, const Hit& b) {
  if (a.score != b.score) return a.score > b.score;
  return std::memcmp(&a.shard->id(a.row), &b.shard->id(b.row), sizeof(ChunkId)) < 0;
}

BestHits::BestHits(uint32_t limit, double threshold, std::vector<Hit>& hits)
    : limit_(limit), minScore_(threshold), hits_(hits) {
  hits_.clear();
}

void BestHits::offerNode(const ScopePart& part, uint32_t node, double score) {
  score = std::clamp(score, -1.0, 1.0);
  if (!(score >= minScore_)) return;
  part.shard->forEachChunk(node, [&](uint32_t row) {
    if (part.rows.has(row)) offer(Hit{part.shard.get(), row, score});
  });
}

void BestHits::offer(const Hit& hit) {
  if (hits_.size() == limit_) {
    if (!before(hit, hits_.front())) return;
    std::pop_heap(hits_.begin(), hits_.end(), before);
    hits_.pop_back();
  }
  hits_.push_back(hit);
  std::push_heap(hits_.begin(), hits_.end(), before);
  if (hits_.size() == limit_) minScore_ = hits_.front().score;
}

void BestHits::finish() { std::sort_heap(hits_.begin(), hits_.end(), before); }

}  // namespace tessera
