// Where a retrieval finds the chunks of a file version.
#pragma once
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/chunk_text.hpp"
#include "project/project.hpp"

namespace tessera {

/// A chunk in memory that a request keeps alive.
struct ChunkRef {
  /// As it is rendered.
  std::string_view text;
  ChunkText parts;
  /// Null if it has none of the dimension that is searched.
  const float* vector = nullptr;
  double inverseNorm = 0;
};

/// A file version that the caller has read, because none of its chunks is in the index of vectors.
struct GivenVersion {
  std::string_view id;
  /// The file in JSON.
  std::string_view file;
  std::vector<ChunkRef> chunks;
};

class ChunkSource {
 public:
  /// @param scope null without an index of vectors
  /// @param dimension that of the query; 0 without a vector
  ChunkSource(const Scope* scope, uint32_t dimension, std::span<const GivenVersion> given);

  /// The chunks of a version that are in the scope, by index; empty if none is in memory.
  std::vector<ChunkRef> chunksOf(std::string_view versionId) const;
  /// What the caller has read of a version; null if it has not.
  const GivenVersion* given(std::string_view versionId) const;

 private:
  const Scope* const scope_;
  const uint32_t dimension_;
  std::unordered_map<std::string_view, const GivenVersion*> given_;
};

/// The chunk of a row.
ChunkRef chunkAt(const Shard& shard, uint32_t row, bool withVector);

}  // namespace tessera
