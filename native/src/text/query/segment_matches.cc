#include "text/query/segment_matches.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace tessera {

/// Upper bound of the rounding errors of a score, as a share of it.
static constexpr double ROUNDING_SHARE = 1e-4;
/// Candidates are narrowed again once the possible gain of the other words has shrunk to this share.
static constexpr double NARROW_AGAIN_SHARE = 0.7;

void MatchScratch::fit(size_t documents) {
  if (scores.size() >= documents) return;
  scores.assign(documents, 0);
  isCandidate.assign(documents, 0);
  holdsSelective.assign(documents, 0);
  // One more, because a document is written before it is known to be new.
  matches.resize(documents + 1);
  candidates.resize(documents);
}

SegmentMatches::SegmentMatches(const TextSegment& segment, const TextQuery& query,
                               MatchScratch& scratch)
    : segment_(segment),
      shard_(query.shard),
      acceptsAll_(segment.inScope.all && query.shard.count <= 1),
      scratch_(scratch) {
  scratch.fit(segment.documentCount());
}

void SegmentMatches::sortCandidates() {
  if (sorted_) return;
  const auto first = scratch_.candidates.begin();
  std::sort(first, first + static_cast<ptrdiff_t>(candidateCount_));
  sorted_ = true;
}

SegmentMatches::~SegmentMatches() {
  for (size_t i = 0; i < matchCount_; i++) scratch_.scores[scratch_.matches[i]] = 0;
  if (!narrowed_) return;
  std::fill_n(scratch_.isCandidate.begin(), segment_.documentCount(), 0);
  std::fill_n(scratch_.holdsSelective.begin(), segment_.documentCount(), 0);
}

size_t SegmentMatches::total() const {
  if (!narrowed_) return matchCount_;
  const std::span holdsSelective(scratch_.holdsSelective.data(), segment_.documentCount());
  if (acceptsAll_) return std::reduce(holdsSelective.begin(), holdsSelective.end(), size_t{0});
  size_t total = 0;
  for (uint32_t document = 0; document < holdsSelective.size(); document++) {
    total += holdsSelective[document] != 0 && isInScope(document);
  }
  return total;
}

float SegmentMatches::kthBest(const Wanted& wanted) {
  const auto found = this->found();
  kth_ = std::max(kth_, static_cast<float>(wanted.least));
  if (found.size() < wanted.best) return kth_;
  // A heap with the smallest of the best on top rejects most scores at once. Scores only grow, so the last
  // result is at most the new one.
  auto& best = scratch_.best;
  best.assign(wanted.best, kth_);
  for (const uint32_t document : found) {
    const float score = scratch_.scores[document];
    if (score <= best.front()) continue;
    std::pop_heap(best.begin(), best.end(), std::greater<>{});
    best.back() = score;
    std::push_heap(best.begin(), best.end(), std::greater<>{});
  }
  kth_ = best.front();
  return kth_;
}

void SegmentMatches::narrow(double left, const Wanted& wanted) {
  if (left > narrowBelow_) return;
  narrowBelow_ = left * NARROW_AGAIN_SHARE;
  const double needed = kthBest(wanted) * (1 - ROUNDING_SHARE) - left;
  if (needed <= 0) return;
  const auto least = static_cast<float>(needed);
  size_t count = 0;
  for (const uint32_t document : found()) {
    const bool isCandidate = scratch_.scores[document] >= least;
    scratch_.isCandidate[document] = isCandidate;
    scratch_.holdsSelective[document] = 1;
    // Compacts the list of candidates without a branch: a rejected document is overwritten by the next one.
    scratch_.candidates[count] = document;
    count += isCandidate;
  }
  candidateCount_ = count;
  narrowed_ = true;
}

}  // namespace tessera
