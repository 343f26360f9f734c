#include "retrieval/sources.hpp"

#include <algorithm>

namespace tessera {

ChunkRef chunkAt(const Shard& shard, uint32_t row, bool withVector) {
  ChunkRef chunk;
  chunk.text = shard.text(row);
  readChunkText(chunk.text, chunk.parts);
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
  for (const ScopeParts& parts : scope_->parts) {
    for (const auto& part : parts) {
      const Shard& shard = *part->shard;
      shard.versions().forEach(versionId, [&](uint32_t row) {
        if (!part->rows.has(row)) return;
        ChunkRef chunk = chunkAt(shard, row, shard.dimension() == dimension_);
        if (chunk.parts.versionId == versionId) chunks.push_back(chunk);
      });
    }
  }
  std::ranges::stable_sort(chunks, {}, [](const ChunkRef& chunk) { return chunk.parts.index; });
  return chunks;
}

}  // namespace tessera
