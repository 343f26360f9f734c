// Ranks the documents of text segments that match a query.
#pragma once
#include <span>
#include <vector>

#include "text/query/score.hpp"
#include "text/segment/term_marks.hpp"
#include "text/segment/text_query.hpp"
#include "text/segment/text_segment.hpp"
#include "text/query/top_matches.hpp"

namespace tessera {

/// Memory that a thread reuses, so that a query allocates little.
struct RankScratch {
  ScoreScratch score;
  MarkScratch marks;
};

struct Ranking {
  /// All matches in the shard.
  size_t total;
  /// At most `query.limit`, best first. The order does not depend on the limit.
  std::vector<TextMatch> best;
};

Ranking rankText(std::span<const TextSegment> segments, const TextQuery& query,
                 RankScratch& scratch);

}  // namespace tessera
