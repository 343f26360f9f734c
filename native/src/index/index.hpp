// The chunks of one project whose vectors have one dimension, or that have no vector, in shards.
//
// An index numbers its chunks: an *ordinal* is the number of a shard and a row of it. A shard is bounded,
// so that building its graph, copying it and freeing its unused memory are bounded too.
#pragma once
#include <array>
#include <memory>
#include <shared_mutex>
#include <string_view>
#include <vector>

#include "common/keyed_hash.hpp"
#include "index/shard.hpp"

namespace tessera {

/// Chunks to append. `ends[i]` is where the text of chunk i ends in `texts`.
struct Batch {
  uint32_t count;
  const ChunkId* ids;
  /// Empty in an index of dimension 0.
  const float* vectors;
  std::string_view texts;
  const uint32_t* ends;
};

using Shards = std::vector<std::shared_ptr<Shard>>;

class Index {
 public:
  static constexpr uint32_t MAX_SHARDS = 1u << (32 - Shard::ROW_BITS);

  explicit Index(uint32_t dimension) : dimension_(dimension) {}

  uint32_t dimension() const { return dimension_; }

  /// Appends a validated batch and returns the ordinals of its chunks. One writer at a time. If it
  /// throws, the chunks that it has appended belong to no scope and are never visible.
  std::vector<uint32_t> append(const Batch& batch);

  /// The shards by their numbers. The list is a copy, because shards may be added and replaced.
  Shards shards() const;
  std::shared_ptr<Shard> shard(uint32_t number) const;
  /// Replaces the shard of the same number. Writer only.
  void replace(std::shared_ptr<Shard> shard);

  /// Nodes that a shard may have, or rows if it has no vectors. A test lowers it to get many shards of little data.
  static uint32_t shardNodes();
  static void setShardNodes(uint32_t nodes);

 private:
  friend class SnapshotCodec;

  /// The shard that new vectors, or chunks without a vector, go to.
  Shard& openShard();
  uint32_t append(const Chunk& chunk);

  const uint32_t dimension_;
  /// Snapshots store it with the hashes of vectors.
  HashKey hashKey_ = HashKey::random();
  mutable std::shared_mutex mutex_;
  Shards shards_;
};

}  // namespace tessera
