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
  if (!withVector) return chunk;
  const uint32_t node = shard.nodeOf(row);
  chunk.vector = shard.vectors().vector(node);
  chunk.inverseNorm = shard.vectors().inverseNorm(node);
  return chunk;
}

ChunkSource::ChunkSource(const Scope* scope, uint32_t dimension,
                         std::span<const GivenVersion> given)
    : scope_(scope), dimension_(dimension) {
  for (const GivenVersion& version : given) given_.emplace(version.id, &version);
}

const GivenVersion* ChunkSource::given(std::string_view versionId) const {
  const auto known = given_.find(versionId);
  return known == given_.end() ? nullptr : known->second;
}

std::vector<ChunkRef> ChunkSource::chunksOf(std::string_view versionId) const {
  if (const GivenVersion* version = given(versionId)) return version->chunks;
  std::vector<ChunkRef> chunks;
  if (scope_ == nullptr) return chunks;
  const VersionKey key = VersionKey::of(versionId);
  for (const ScopeParts& parts : scope_->parts) {
    for (const auto& part : parts) {
      const Shard& shard = *part->shard;
      VersionRows::Reader(shard.versions()).forEach(key, [&](uint32_t row) {
        if (part->rows.has(row)) chunks.push_back(chunkAt(shard, row, shard.dimension() == dimension_));
        return true;
      });
    }
  }
  std::ranges::stable_sort(chunks, {}, [](const ChunkRef& chunk) { return chunk.parts.index; });
  return chunks;
}

}  // namespace tessera
