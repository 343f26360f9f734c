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
  /// Null if it has none of the dimension that is searched.
  const float* vector = nullptr;
  double inverseNorm = 0;
  ChunkPlace place;
};

/// A file version that the caller has read, because none of its chunks is in the index of vectors.
struct GivenVersion {
  std::string_view id;
  /// The file in JSON.
  std::string_view file;
  std::vector<ChunkRef> chunks;
  /// For how many milliseconds it is known to have no chunks; 0 if it has some.
  double bareMs = 0;
};

class ChunkSource {
 public:
  /// @param scope null without an index of vectors
  /// @param dimension that of the query; 0 without a vector
  ChunkSource(const Scope* scope, uint32_t dimension, std::span<const GivenVersion> given);

  /// The chunks of a version that are in the scope, by index; empty if none is in memory.
  std::vector<ChunkRef> chunksOf(std::string_view versionId) const;
  /// Calls `visit(i, vector, inverseNorm)` for the vectors of the chunks of each version in the index, until that
  /// returns false for the version. Which versions the caller has read depends on what it shows, so their vectors
  /// count only where a search has found them.
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
  /// A version as the caller has read it; null if it has not.
  const GivenVersion* given(std::string_view versionId) const;

 private:
  const Scope* const scope_;
  const uint32_t dimension_;
  std::unordered_map<std::string_view, const GivenVersion*, KeyedHash> given_;
};

/// The document of a file version; nothing if it has no text in the scope.
std::optional<TextMatch> documentOf(std::span<const TextSegment> segments, std::string_view path,
                                    std::string_view versionId);

/// The chunk of a row.
ChunkRef chunkAt(const Shard& shard, uint32_t row, bool withVector);

}  // namespace tessera
