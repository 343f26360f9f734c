#include "retrieval/sources.hpp"

#include <algorithm>
#include <ranges>
#include <utility>

namespace tessera {

/// The document of a file version; std::nullopt without text in the scope.
std::optional<TextMatch> documentOf(std::span<const TextSegment> segments, std::string_view path,
                                    std::string_view versionId) {
  for (uint32_t s = 0; s < segments.size(); s++) {
    const TextSegment& segment = segments[s];
    const auto documents = std::views::iota(uint32_t{0}, segment.documentCount());
    const auto pathOf = [&](uint32_t document) { return segment.path(document); };
    // A segment may have several versions of a file.
    for (const uint32_t document : std::ranges::equal_range(documents, path, {}, pathOf)) {
      const bool isOwn = segment.versionId(document) == versionId;
      if (isOwn && segment.inScope.has(document)) return TextMatch{s, document, 0};
    }
  }
  return std::nullopt;
}

ChunkRef chunkAt(const Shard& shard, uint32_t row, bool withVector) {
  ChunkRef chunk;
  chunk.text = shard.text(row);
  readChunkText(chunk.text, chunk.parts);
  chunk.place = {shard.serial(), row};
  const uint32_t node = shard.nodeOf(row);
  if (!withVector || node == NONE) return chunk;
  chunk.vector = shard.vectors().vector(node);
  chunk.inverseNorm = shard.vectors().inverseNorm(node);
  return chunk;
}

ChunkSource::ChunkSource(const Scope* scope, const Project* project, uint32_t dimension,
                         std::span<const GivenVersion> given)
    : scope_(scope), project_(project), dimension_(dimension) {
  for (const GivenVersion& version : given) given_.emplace(version.id, &version);
}

/// Adds the chunks of a version in a shard, or those in these rows of it.
void ChunkSource::add(const Shard& shard, const Bitmap* rows, VersionKey version,
                      std::vector<ChunkRef>& chunks) const {
  VersionRows::Reader(shard.versions()).forEach(version, [&](uint32_t row) {
    const bool isMember = rows == nullptr || rows->has(row);
    if (isMember) chunks.push_back(chunkAt(shard, row, shard.dimension() == dimension_));
    return true;
  });
}

/// The chunks of a version that the scope no longer holds, each once. The version has entries from each time that it was
/// indexed: before and after it was cut or embedded.
std::vector<ChunkRef> ChunkSource::chunksOutside(VersionKey version) const {
  std::vector<ChunkRef> chunks;
  for (int slot = 0; slot < static_cast<int>(INDEX_COUNT); slot++) {
    const std::shared_ptr<Index> index = project_->index(slot);
    for (const auto& shard : index ? index->shards() : Shards()) {
      const size_t before = chunks.size();
      add(*shard, nullptr, version, chunks);
      if (chunks.size() > before) others_.push_back(shard);
    }
  }
  const auto isFile = [](const ChunkRef& chunk) { return chunk.parts.isFile(); };
  if (!std::ranges::all_of(chunks, isFile)) std::erase_if(chunks, isFile);
  // An entry with a vector comes before its equals.
  std::ranges::sort(chunks, {}, [](const ChunkRef& chunk) {
    return std::pair(chunk.parts.id, chunk.vector == nullptr);
  });
  const auto equals = std::ranges::unique(chunks, {}, [](const ChunkRef& chunk) { return chunk.parts.id; });
  chunks.erase(equals.begin(), equals.end());
  return chunks;
}

std::vector<ChunkRef> ChunkSource::chunksOf(std::string_view versionId) const {
  if (scope_ == nullptr) {
    const auto known = given_.find(versionId);
    return known == given_.end() ? std::vector<ChunkRef>() : known->second->chunks;
  }
  const VersionKey key = VersionKey::of(versionId);
  std::vector<ChunkRef> chunks;
  for (const ScopeParts& parts : scope_->parts) {
    for (const auto& part : parts) add(*part->shard, &part->rows, key, chunks);
  }
  // The scope may have changed a moment before the view of its texts, which still finds the versions from before.
  if (chunks.empty() && project_ != nullptr) chunks = chunksOutside(key);
  std::ranges::stable_sort(chunks, {}, [](const ChunkRef& chunk) { return chunk.parts.index; });
  return chunks;
}

}  // namespace tessera
