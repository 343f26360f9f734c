#include "retrieval/candidates.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <ranges>

#include "common/cosine.hpp"
#include "common/prefetch.hpp"
#include "kernels/kernels.hpp"

namespace tessera {

/// Chunks of a file that matches by text, whose vectors are compared with the query.
static constexpr size_t COMPARED_CHUNKS = 16;
/// Vectors are far apart in memory, so they are prefetched. The processor itself prefetches the rest of each vector.
static constexpr size_t VECTORS_AHEAD = 3;
static constexpr size_t VECTOR_START_BYTES = 1'024;

/// The number of candidates for `wanted` hits. It grows in steps, so that most pages have the same candidates.
static size_t depthFor(size_t wanted, size_t least) {
  size_t depth = least;
  while (depth < wanted) depth *= 2;
  return depth;
}

static double inverseNormOf(const std::vector<float>& vector) {
  if (vector.empty()) return 0;
  const auto dimension = static_cast<uint32_t>(vector.size());
  return 1 / std::sqrt(kernels().dot(vector.data(), vector.data(), dimension));
}

/// Gives an item this vector if it is more similar to the query than the item's current one.
static void offer(FusedItem& item, const float* vector, double inverseNorm, double cosine) {
  if (item.vector != nullptr && item.cosine >= cosine) return;
  item.vector = vector;
  item.inverseNorm = inverseNorm;
  item.cosine = cosine;
}

Candidates::Candidates(std::span<const TextSegment> segments, const Scope* scope,
                       const RetrievalRequest& request, const ChunkSource& source,
                       TextQuery& query, LookupScratch& scratch, Answer& found)
    : segments_(segments),
      scope_(scope),
      request_(request),
      source_(source),
      query_(query),
      scratch_(scratch),
      found_(found),
      dimension_(static_cast<uint32_t>(request.vector.size())),
      inverseNorm_(inverseNormOf(request.vector)) {}

void Candidates::find(size_t wanted) {
  matches_.clear();
  candidates_.clear();
  versions_.clear();
  files_ = 0;
  total_ = 0;
  countsAll_ = request_.mode == RetrievalMode::KEYWORD;
  if (request_.mode != RetrievalMode::SEMANTIC) findByText(wanted);
  if (request_.mode != RetrievalMode::KEYWORD) findByVector(wanted);
  rank();
}

void Candidates::findByText(size_t wanted) {
  query_.limit = isFused() ? depthFor(wanted, FUSED_FILES) : wanted;
  auto [total, matches] = rankText(segments_, query_, scratch_.rank);
  files_ = total_ = total;
  matches_ = std::move(matches);
  hasAllTexts_ = matches_.size() == total;
  candidates_.reserve(matches_.size() + depthFor(wanted, FUSED_CHUNKS));
  for (const TextMatch& match : matches_) {
    HitCandidate& candidate = candidates_.emplace_back();
    candidate.match = &match;
    candidate.item.keyword = match.score;
    candidate.item.counts = candidates_.size() <= FUSED_FILES;
  }
  if (isFused()) compareChunks();
}

/// Finds for each file the vector that is most similar to the query.
void Candidates::compareChunks() {
  struct Compared {
    FusedItem& item;
    const float* vector;
    double inverseNorm;
  };
  for (const HitCandidate& candidate : candidates_) versions_.push_back(VersionKey::of(versionOf(*candidate.match)));
  std::vector<Compared> compared;
  std::vector<size_t> counts(candidates_.size(), 0);
  source_.forEachVector(versions_, [&](size_t i, const float* vector, double inverseNorm) {
    if (counts[i] == COMPARED_CHUNKS) return false;
    compared.push_back({candidates_[i].item, vector, inverseNorm});
    counts[i]++;
    return true;
  });
  for (size_t i = 0; i < compared.size(); i++) {
    const size_t ahead = i + VECTORS_AHEAD;
    if (ahead < compared.size()) prefetch(compared[ahead].vector, VECTOR_START_BYTES);
    const auto& [item, vector, inverseNorm] = compared[i];
    offer(item, vector, inverseNorm, cosineWith(vector, inverseNorm));
  }
}

double Candidates::cosineWith(const float* vector, double inverseNorm) const {
  return cosineOf(kernels().dot(vector, request_.vector.data(), dimension_), inverseNorm_,
                  inverseNorm);
}

void Candidates::findByVector(size_t wanted) {
  if (request_.hits) {
    for (const GivenHit& hit : *request_.hits) addChunk(hit.chunk, hit.cosine);
    total_ = std::max(total_, request_.matches);
    countsAll_ = !isFused() && request_.countsAllHits;
    hasAllVectors_ = request_.hasAllHits;
  } else if (scope_ != nullptr) {
    const size_t limit = isFused() ? depthFor(wanted, FUSED_CHUNKS) : wanted;
    const Query query{request_.vector.data(), dimension_, static_cast<uint32_t>(limit),
                      request_.threshold, !isFused()};
    search(*scope_, query, found_);
    for (const Hit& hit : found_.hits) addChunk(chunkAt(*hit.shard, hit.row, true), hit.score);
    total_ = std::max(total_, found_.work.matches);
    countsAll_ = !isFused() && found_.work.countsAll;
    hasAllVectors_ = found_.hits.size() < limit;
  }
}

void Candidates::addChunk(const ChunkRef& chunk, double cosine) {
  HitCandidate candidate;
  candidate.chunk = chunk;
  offer(candidate.item, chunk.vector, chunk.inverseNorm, cosine);
  candidate.item.counts = candidates_.size() < matches_.size() + FUSED_CHUNKS;
  const auto file = std::ranges::find(versions_, VersionKey::of(chunk.parts.versionId));
  // Chunks that only a longer list contains do not change a score, so that scores do not depend on its length.
  if (candidate.item.counts && file != versions_.end()) {
    // A long file may have a better chunk than those that were compared.
    HitCandidate& own = candidates_[static_cast<size_t>(file - versions_.begin())];
    offer(own.item, chunk.vector, chunk.inverseNorm, cosine);
    if (own.item.counts) candidate.item.counts = false;
  }
  candidates_.push_back(candidate);
}

void Candidates::rank() {
  if (isFused()) {
    items_.clear();
    for (const HitCandidate& candidate : candidates_) items_.push_back(candidate.item);
    const double best = matches_.empty() ? 0 : matches_.front().score;
    fusion_.emplace(items_, best, query_, dimension_);
    for (size_t i = 0; i < items_.size(); i++) candidates_[i].item = items_[i];
  } else {
    for (HitCandidate& candidate : candidates_) {
      candidate.item.rank = candidate.item.score = scoreOf(candidate.item);
    }
  }
  std::vector<HitCandidate*> ranked;
  for (HitCandidate& candidate : candidates_) ranked.push_back(&candidate);
  std::ranges::stable_sort(ranked, std::greater(),
                           [](const HitCandidate* candidate) { return candidate->item.rank; });
  // A candidate scores at least as much as those below it.
  double least = std::numeric_limits<double>::lowest();
  for (HitCandidate* candidate : ranked | std::views::reverse) {
    least = candidate->item.score = std::max(candidate->item.score, least);
  }
  ranked_.assign(ranked.begin(), ranked.end());
}

double Candidates::scoreOf(const FusedItem& item) const {
  switch (request_.mode) {
    case RetrievalMode::SEMANTIC:
      return item.cosine;
    case RetrievalMode::KEYWORD:
      return keywordScore(item.keyword, query_);
    case RetrievalMode::HYBRID:
      break;
  }
  return fusion_->scoreOf(item);
}

}  // namespace tessera
