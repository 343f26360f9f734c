// A retrieval: one page of the chunks that answer a query by vector, by text or by both.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "retrieval/facets.hpp"
#include "retrieval/sources.hpp"
#include "search/search.hpp"
#include "text/query/lookup.hpp"

namespace tessera {

/// src/engine/requests/request.ts states the same numbers.
enum class RetrievalMode { SEMANTIC, KEYWORD, HYBRID };

/// A chunk that the caller found by its vector.
struct GivenHit {
  ChunkRef chunk;
  double cosine;
};

/// Excluded chunks by id and files by path, and the number of chunks in both.
struct Excluded {
  std::vector<std::string> chunkIds;
  std::vector<std::string> paths;
  uint64_t chunks = 0;
};

struct RetrievalRequest {
  RetrievalMode mode;
  /// Empty without a query.
  AnalysedQuery analysed;
  bool hasQuery;
  /// Empty without a vector.
  std::vector<float> vector;
  size_t limit;
  /// The minimum cosine of hits that match only by vector.
  double threshold;
  /// Maximum number of hits per group, the hits of one file; 0 without groups. `limit` counts groups.
  size_t groupSize = 0;
  /// How much hits must differ from earlier ones: 0 to 1.
  double diversity = 0;
  /// Chunks and files to leave out of the answer.
  Excluded excluded;
  std::optional<FacetRequest> facets;
  /// The `progress` of the page before.
  std::string progress;
  /// For `page_info`: the request's path, and the cursor of a next page.
  std::string selfPath;
  std::string next;
  /// The project of the scope, unless the scope is a filtered one: chunks outside of that may not match. Null without an
  /// index of chunks.
  std::shared_ptr<const Project> project;
  /// The file versions that the caller has read.
  std::vector<GivenVersion> versions;
  /// The chunks that the caller found by vector, best first, and how many reach the threshold; std::nullopt to
  /// search the scope.
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
  /// Versions that the page shows and that the caller, who searches without an index of chunks, must read. `json` is
  /// the response only if this list is empty.
  std::vector<std::string> missing;
  /// The known number of hits.
  uint64_t total = 0;
  /// Whether `total` counts all hits.
  bool countsAll = false;
  /// The score of the first hit; 0 without any.
  double best = 0;
  /// True when the page is short only because the caller passed too few hits.
  bool lacksHits = false;
  /// True when counting the facets took too long. Then `json` is not a response.
  bool isLate = false;
  /// True when another page follows. `progress` is for its request then.
  bool more = false;
  std::string progress;
};

/// @param scope the searched scope; null without an index of chunks
void retrieve(TextView& view, const Scope* scope, const RetrievalRequest& request,
              LookupScratch& scratch, Answer& found,
              RetrievalAnswer& answer);

}  // namespace tessera
