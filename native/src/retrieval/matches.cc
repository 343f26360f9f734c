#include "retrieval/matches.hpp"

#include <string_view>
#include <unordered_set>

#include "common/keyed_hash.hpp"
#include "retrieval/hit_maker.hpp"
#include "retrieval/retrieve.hpp"

namespace tessera {

/// Maximum number of files that match by text, and of chunks that match by vector.
static constexpr uint32_t MATCHED_FILES_MAX = 100'000;
static constexpr uint32_t MATCHED_CHUNKS_MAX = 10'000;

namespace {

class Matches {
 public:
  Matches(const RetrievalRequest& request, const HitMaker& maker)
      : request_(request), maker_(maker) {}

  void addTexts(std::span<const TextSegment> segments, TextQuery& query, LookupScratch& scratch) {
    query.limit = MATCHED_FILES_MAX;
    const Ranking ranking = rankText(segments, query, scratch.rank);
    for (const TextMatch& match : ranking.best) {
      HitCandidate candidate;
      candidate.match = &match;
      add(candidate, segments[match.segment].versionId(match.document));
    }
    areAll_ = areAll_ && ranking.best.size() == ranking.total;
  }

  void addGiven() {
    for (const GivenHit& hit : *request_.hits) addChunk(hit.chunk);
    areAll_ = areAll_ && request_.hasAllHits;
  }

  void addVectors(const Scope& scope, Answer& found) {
    const auto dimension = static_cast<uint32_t>(request_.vector.size());
    const Query query{request_.vector.data(), dimension, MATCHED_CHUNKS_MAX, request_.threshold,
                      false};
    search(scope, query, found);
    for (const Hit& hit : found.hits) addChunk(chunkAt(*hit.shard, hit.row, false));
    areAll_ = areAll_ && found.hits.size() < MATCHED_CHUNKS_MAX;
  }

  MatchedFiles files() const { return {{versions_.begin(), versions_.end()}, areAll_}; }

 private:
  void add(const HitCandidate& candidate, std::string_view version) {
    if (!maker_.isExcluded(candidate)) versions_.insert(version);
  }

  void addChunk(const ChunkRef& chunk) {
    HitCandidate candidate;
    candidate.chunk = chunk;
    add(candidate, chunk.parts.versionId);
  }

  const RetrievalRequest& request_;
  const HitMaker& maker_;
  std::unordered_set<std::string_view, KeyedHash> versions_;
  bool areAll_ = true;
};

}  // namespace

MatchedFiles matchedFiles(std::span<const TextSegment> segments, const Scope* scope,
                          const RetrievalRequest& request, const HitMaker& maker, TextQuery& query,
                          LookupScratch& scratch, Answer& found) {
  Matches matches(request, maker);
  if (request.mode != RetrievalMode::SEMANTIC) matches.addTexts(segments, query, scratch);
  if (request.hits) {
    matches.addGiven();
  } else if (request.mode != RetrievalMode::KEYWORD && scope != nullptr) {
    matches.addVectors(*scope, found);
  }
  return matches.files();
}

}  // namespace tessera
