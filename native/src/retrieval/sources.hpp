// Where a retrieval finds the chunks of a file version.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/chunk_text.hpp"
#include "common/keyed_hash.hpp"
#include "project/project.hpp"
#include "text/page/chunk_texts.hpp"
#include "text/query/top_matches.hpp"

namespace tessera {

/// A chunk in memory that a request keeps alive.
struct ChunkRef {
  /// As it is rendered.
  std::string_view text;
  ChunkText parts;
  /// Null for a chunk without a vector of the searched dimension.
  const float* vector = nullptr;
  double inverseNorm = 0;
  ChunkPlace place;
};

/// A file version that the caller has read, because it searches without an index of chunks.
struct GivenVersion {
  std::string_view id;
  /// Those in the scope; empty if it was deleted meanwhile.
  std::vector<ChunkRef> chunks;
};

class ChunkSource {
 public:
  /// @param scope the searched scope; null without an index of chunks
  /// @param project where chunks of versions are that the scope does not hold; null if these are not shown
  /// @param dimension dimension of the query; 0 without a vector
  ChunkSource(const Scope* scope, const Project* project, uint32_t dimension,
              std::span<const GivenVersion> given);

  /// The chunks of a version that are in the scope, by index; for a version without chunks the entry of its file.
  std::vector<ChunkRef> chunksOf(std::string_view versionId) const;
  /// Calls `visit(i, vector, inverseNorm)` for the vectors of the chunks of each version in the index, until it
  /// returns false for the version. Vectors of versions that the caller has read count only as hits of a search, because
  /// these versions depend on the shown page.
  template <typename Visit>
  void forEachVector(std::span<const VersionKey> versions, const Visit& visit) const {
    if (scope_ == nullptr) return;
    for (const auto& part : scope_->parts[static_cast<size_t>(dimensionSlot(dimension_))]) {
      const Shard& shard = *part->shard;
      const VersionRows::Reader reader(shard.versions());
      for (const VersionKey& version : versions) reader.prefetch(version);
      for (size_t i = 0; i < versions.size(); i++) {
        reader.forEach(versions[i], [&](uint32_t row) {
          if (!part->rows.has(row)) return true;
          const uint32_t node = shard.nodeOf(row);
          return visit(i, shard.vectors().vector(node), shard.vectors().inverseNorm(node));
        });
      }
    }
  }
  /// Whether the caller must read the version before its chunks can be shown.
  bool lacks(std::string_view versionId) const { return scope_ == nullptr && !given_.contains(versionId); }

 private:
  void add(const Shard& shard, const Bitmap* rows, VersionKey version, std::vector<ChunkRef>& chunks) const;
  std::vector<ChunkRef> chunksOutside(VersionKey version) const;

  const Scope* const scope_;
  const Project* const project_;
  const uint32_t dimension_;
  std::unordered_map<std::string_view, const GivenVersion*, KeyedHash> given_;
  /// Those of chunks outside of the scope, which keeps its own alive.
  mutable Shards others_;
};

/// The document of a file version; std::nullopt without text in the scope.
std::optional<TextMatch> documentOf(std::span<const TextSegment> segments, std::string_view path,
                                    std::string_view versionId);

/// The chunk of a row.
ChunkRef chunkAt(const Shard& shard, uint32_t row, bool withVector);

}  // namespace tessera
