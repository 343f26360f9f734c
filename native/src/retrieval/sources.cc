#include "retrieval/sources.hpp"

#include <algorithm>
#include <ranges>

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
  for (size_t slot = 0; slot < INDEX_COUNT && chunks.empty() && project_ != nullptr; slot++) {
    const std::shared_ptr<Index> index = project_->index(static_cast<int>(slot));
    for (const auto& shard : index ? index->shards() : Shards()) {
      others_.push_back(shard);
      add(*shard, nullptr, key, chunks);
    }
  }
  std::ranges::stable_sort(chunks, {}, [](const ChunkRef& chunk) { return chunk.parts.index; });
  return chunks;
}

}  // namespace tessera
