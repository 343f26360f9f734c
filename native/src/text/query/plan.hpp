// Plans a query: the matches of its words and their weights.
#pragma once
#include "text/segment/text_query.hpp"
#include "text/query/text_view.hpp"

namespace tessera {

/// The plan depends on the documents in scope, but not on the shard, nor on how documents are spread over
/// segments.
TextQuery planQuery(TextView& view, const AnalysedQuery& analysed, TextShard shard);

}  // namespace tessera
