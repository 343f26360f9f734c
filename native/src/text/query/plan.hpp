// Plans a query: the matches of its words and their weights.
#pragma once
#include <span>

#include "text/segment/text_query.hpp"
#include "text/query/text_view.hpp"

namespace tessera {

/// The plan depends on the documents in scope, but not on the shard, nor on how documents are spread over
/// segments.
TextQuery planQuery(TextView& view, std::span<const AnalysedWord> words, std::span<const JoinedSpelling> joined,
                    TextShard shard);

}  // namespace tessera
