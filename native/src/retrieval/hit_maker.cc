#include "retrieval/hit_maker.hpp"

#include <algorithm>

namespace tessera {

std::string HitMaker::pathOf(const HitCandidate& candidate) const {
  const TextMatch* match = candidate.match;
  if (match == nullptr) return jsonStringToUtf8(candidate.chunk.parts.path);
  return std::string(segments_[match->segment].path(match->document));
}

bool HitMaker::isExcluded(const HitCandidate& candidate) const {
  if (candidate.match == nullptr && isExcluded(candidate.chunk)) return true;
  const auto& paths = request_.excluded.paths;
  return !paths.empty() && std::ranges::find(paths, pathOf(candidate)) != paths.end();
}

bool HitMaker::isExcluded(const ChunkRef& chunk) const {
  const auto& chunkIds = request_.excluded.chunkIds;
  return std::ranges::find(chunkIds, chunk.parts.id) != chunkIds.end();
}

/// The chunks of a version that the request does not exclude.
std::vector<ChunkRef> HitMaker::chunksOf(std::string_view version) const {
  auto chunks = source_.chunksOf(version);
  std::erase_if(chunks, [this](const ChunkRef& chunk) { return isExcluded(chunk); });
  return chunks;
}

std::optional<ShownHit> HitMaker::hitOf(const HitCandidate& candidate) {
  ShownHit hit;
  hit.score = candidate.item.score;
  hit.path = pathOf(candidate);
  if (candidate.match == nullptr) {
    hit.chunk = candidate.chunk;
    hit.semantic = candidate.item.cosine;
    return hit;
  }
  hit.document = *candidate.match;
  hit.keyword = candidate.match->score;
  const std::string_view version = candidates_.versionOf(*candidate.match);
  const auto chunks = chunksOf(version);
  if (chunks.empty() || chunks.front().parts.isFile()) {
    // Either the request excludes all of its chunks, or the scope has changed.
    if (chunks.empty() && !source_.lacks(version)) return std::nullopt;
    if (!isShowable(segments_[hit.document->segment], hit.document->document)) return std::nullopt;
    // The other hits of the page do not depend on a hit that the caller must read.
    if (chunks.empty()) missing_.emplace_back(version);
    else hit.file = chunks.front().parts;
    return hit;
  }
  passages_.choose(chunks, hit);
  if (request_.mode == RetrievalMode::HYBRID && hit.chunk->vector != nullptr) {
    const double cosine = candidates_.cosineWith(hit.chunk->vector, hit.chunk->inverseNorm);
    if (cosine >= request_.threshold) hit.semantic = cosine;
  }
  return hit;
}

void HitMaker::addPassages(const HitCandidate& candidate, std::vector<ShownHit>& hits) {
  const ShownHit best = hits.back();
  if (!best.chunk || request_.groupSize == 1) return;
  const std::string_view version = best.chunk->parts.versionId;
  const auto chunks = chunksOf(version);
  if (source_.lacks(version)) missing_.emplace_back(version);
  const auto covered = candidate.match == nullptr ? std::vector<double>(chunks.size())
                                                  : passages_.coverages(chunks, best.document);
  double most = 0;
  for (const double each : covered) most = std::max(most, each);
  std::vector<ShownHit> others;
  for (size_t i = 0; i < chunks.size(); i++) {
    if (chunks[i].parts.id == best.chunk->parts.id) continue;
    const double share = most > 0 ? covered[i] / most : 0;
    auto hit = passageOf(chunks[i], best, share);
    if (!hit) continue;
    others.push_back(std::move(*hit));
  }
  std::ranges::stable_sort(others, std::greater(), &ShownHit::score);
  if (others.size() >= request_.groupSize) others.resize(request_.groupSize - 1);
  for (ShownHit& hit : others) {
    hit.score = std::min(hit.score, best.score);
    hits.push_back(std::move(hit));
  }
}

/// A further chunk of a file as a hit; std::nullopt if neither its text nor its vector matches.
///
/// @param share coverage of the chunk's passage, divided by that of the best passage of the file
std::optional<ShownHit> HitMaker::passageOf(const ChunkRef& chunk, const ShownHit& best,
                                            double share) const {
  ShownHit hit;
  FusedItem item;
  if (best.keyword && share > 0) hit.keyword = item.keyword = *best.keyword * share;
  if (request_.mode != RetrievalMode::KEYWORD && chunk.vector != nullptr) {
    item.vector = chunk.vector;
    item.inverseNorm = chunk.inverseNorm;
    item.cosine = candidates_.cosineWith(chunk.vector, chunk.inverseNorm);
    if (item.cosine >= request_.threshold) hit.semantic = item.cosine;
  }
  if (!hit.keyword && !hit.semantic) return std::nullopt;
  hit.document = best.document;
  hit.path = best.path;
  hit.chunk = chunk;
  hit.score = candidates_.scoreOf(item);
  return hit;
}

}  // namespace tessera
