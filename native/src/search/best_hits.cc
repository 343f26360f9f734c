#include "search/best_hits.hpp"

#include <algorithm>
#include <cstring>

namespace tessera {

static bool before(const Hit& a, const Hit& b) {
  if (a.score != b.score) return a.score > b.score;
  return std::memcmp(&a.shard->id(a.row), &b.shard->id(b.row), sizeof(ChunkId)) < 0;
}

uint64_t chunksOf(const ScopePart& part, uint32_t node) {
  uint64_t chunks = 0;
  part.shard->forEachChunk(node, [&](uint32_t row) { chunks += part.rows.has(row); });
  return chunks;
}

BestHits::BestHits(const Query& query, double minScore, std::vector<Hit>& hits)
    : limit_(query.limit), threshold_(query.threshold), minScore_(minScore), hits_(hits) {
  hits_.clear();
}

void BestHits::offerNode(const ScopePart& part, uint32_t node, double score) {
  if (!(score >= threshold_)) return;
  part.shard->forEachChunk(node, [&](uint32_t row) {
    if (!part.rows.has(row)) return;
    matches_++;
    if (score >= minScore_) offer(Hit{part.shard.get(), row, score});
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
