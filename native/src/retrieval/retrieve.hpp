// A retrieval: one page of the chunks that answer a query by vector, by text or by both.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "retrieval/sources.hpp"
#include "search/search.hpp"
#include "text/query/lookup.hpp"

namespace tessera {

/// src/engine/requests/request.ts states the same numbers.
enum class RetrievalMode { SEMANTIC, KEYWORD, HYBRID };

/// A chunk that the caller has found by its vector.
struct GivenHit {
  ChunkRef chunk;
  double cosine;
};

/// Chunks by their ids and files by their paths, and how many chunks they are together.
struct Excluded {
  std::vector<std::string> chunkIds;
  std::vector<std::string> paths;
  uint64_t chunks = 0;
};

struct RetrievalRequest {
  RetrievalMode mode;
  /// The words of the query; none without one.
  std::vector<AnalysedWord> words;
  std::vector<JoinedSpelling> joined;
  bool hasQuery;
  /// Empty without one.
  std::vector<float> vector;
  size_t limit;
  /// The least cosine of hits that only the vector has found.
  double threshold;
  /// The most hits of a group, which are those of one file; 0 without groups. `limit` counts groups.
  size_t groupSize = 0;
  /// How much hits have to differ from those before: 0 to 1.
  double diversity = 0;
  /// What is left out of the answer.
  Excluded excluded;
  /// Whether the versions of all matching files are listed.
  bool listsMatches = false;
  /// The hits of earlier pages, as their answers said.
  std::string progress;
  /// For `page_info`: the request's path, and the cursor of the next page in case there is one.
  std::string selfPath;
  std::string next;
  /// The file versions that the caller has read.
  std::vector<GivenVersion> versions;
  /// The chunks that the caller has found by vector, best first, and how many reach the threshold;
  /// nothing if the scope is to be searched.
  std::optional<std::vector<GivenHit>> hits;
  uint64_t matches = 0;
  /// Whether the given hits are all that reach the threshold.
  bool hasAllHits = false;
  /// Whether no more chunks reach the threshold than `matches` says.
  bool countsAllHits = false;
};

struct RetrievalAnswer {
  /// The complete response body in JSON.
  std::string json;
  /// Versions that the caller has to read, because a page shows them and nothing of them is in memory.
  /// While there are any, `json` has no response.
  std::vector<std::string> unread;
  /// All hits as far as is known.
  uint64_t total = 0;
  /// Whether there are no more than that.
  bool countsAll = false;
  /// True when the page is short only because the caller has given too few hits.
  bool lacksHits = false;
  /// The ids of the versions that match, separated by commas, and whether there are no others.
  std::string matched;
  bool hasAllMatched = false;
  /// True when another page follows. `progress` is for its request then.
  bool more = false;
  std::string progress;
};

/// @param scope null without an index of vectors
void retrieve(TextView& view, const Scope* scope, const RetrievalRequest& request,
              const Tokenizer& tokenizer, LookupScratch& scratch, Answer& found,
              RetrievalAnswer& answer);

}  // namespace tessera
