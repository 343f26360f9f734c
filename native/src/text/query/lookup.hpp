// A lookup: one page of the documents of a view, as the response body.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/segment/block_texts.hpp"
#include "text/query/rank.hpp"
#include "text/page/chunk_texts.hpp"
#include "text/page/snippet.hpp"
#include "text/query/text_view.hpp"

namespace tessera {

struct LookupRequest {
  /// The query, as the response repeats it; without one, all documents are listed by path.
  std::optional<std::u16string> query;
  AnalysedQuery analysed;
  TextShard shard;
  size_t limit;
  /// The `progress` of the page before.
  std::string progress;
  /// For `page_info`: the request's path, and the cursor of the next page in case there is one.
  std::string selfPath;
  std::string next;
};

struct LookupAnswer {
  /// The complete response body in JSON.
  std::string json;
  /// All matches in the shard, and all documents in it.
  size_t total;
  size_t shardItems;
  /// True when another page follows. `progress` is for its request then.
  bool more;
  std::string progress;
};

/// Memory that a thread reuses, so that a lookup allocates little, and a retrieval as well.
struct LookupScratch {
  RankScratch rank;
  BlockTexts texts;
  ChunkTexts chunks;
};

/// Append a score as answers show it, and a snippet as a member of that name.
void appendScore(std::string& out, double score);
void appendSnippet(std::string& out, std::string_view name, const Snippet& snippet);

/// A document matches if it holds a word of the query or another form of it. A prefix also matches longer
/// words that start with it. A word that occurs in no document in scope also matches words at one typo's
/// distance. In a long query, common words do not make a document a match. A query without words matches
/// no document.
void lookUp(TextView& view, const LookupRequest& request,
            LookupScratch& scratch, LookupAnswer& answer);

}  // namespace tessera
