#include "text/query/rank.hpp"

#include <algorithm>

#include "common/prefetch.hpp"
#include "text/query/rerank.hpp"
#include "text/segment/weights.hpp"

namespace tessera {

/// Tokens of documents are far apart in memory, so they are prefetched.
static constexpr size_t PREFETCH_AHEAD = 4;
/// The processor itself prefetches the rest of the tokens.
static constexpr size_t PREFETCH_BYTES = 512;

static void prefetchTokens(std::span<const TextSegment> segments, const TextMatch& match) {
  const TextSegment& segment = segments[match.segment];
  const int32_t* from = segment.tokens.data() + segment.tokenStart[match.document];
  prefetch(from, PREFETCH_BYTES);
}

static void addBonuses(std::span<const TextSegment> segments, const TextQuery& query,
                       std::span<TextMatch> matches, MarkScratch& scratch) {
  for (uint32_t s = 0; s < segments.size(); s++) {
    const auto isOwn = [s](const TextMatch& match) { return match.segment == s; };
    if (std::ranges::none_of(matches, isOwn)) continue;
    const TermMarks marks(segments[s], s, query, scratch);
    Reranker reranker(segments[s], s, marks, query);
    for (size_t i = 0; i < matches.size(); i++) {
      if (i + PREFETCH_AHEAD < matches.size()) prefetchTokens(segments, matches[i + PREFETCH_AHEAD]);
      if (isOwn(matches[i])) matches[i].score += reranker.bonus(matches[i].document);
    }
  }
}

Ranking rankText(std::span<const TextSegment> segments, const TextQuery& query,
                 RankScratch& scratch) {
  const size_t best = std::max(query.limit, RERANK_DOCUMENTS);
  const RankOrder ranks(segments);
  TopMatches top(best, ranks);
  const std::vector<ScoringStep> order = scoringOrder(query);
  size_t total = 0;
  for (uint32_t s = 0; s < segments.size(); s++) {
    SegmentMatches matches(segments[s], query, scratch.score.matches);
    const Wanted wanted{best, top.least()};
    scoreSegment(segments[s], s, query, order, wanted, matches, scratch.score);
    total += matches.total();
    matches.eachWanted([&](uint32_t document, double score) {
      if (score >= top.least()) top.offer({s, document, score});
    });
  }
  std::vector<TextMatch>& ranked = top.sorted();
  // The second pass always reorders the same matches, so that ranks do not depend on the limit.
  const std::span head(ranked.begin(), std::min(RERANK_DOCUMENTS, ranked.size()));
  addBonuses(segments, query, head, scratch.marks);
  std::sort(head.begin(), head.end(), ranks);
  if (ranked.size() > query.limit) ranked.resize(query.limit);
  return {total, std::move(ranked)};
}

}  // namespace tessera
