// A bounded part of the chunks of one project and one dimension, and their vectors.
//
// A chunk has a *row*; a *node* is a distinct vector. A shard of dimension 0 has rows only. Chunks whose vectors are
// equal bit by bit share a node. Versions of a file repeat most of their chunks, so this saves memory. It also keeps the
// graph free of equal points, which would link only to each other.
//
// Rows and nodes are only ever added. Nothing that a search reads is changed or moved: the graph and
// the codes are replaced as a whole, and a search keeps the generation that it started with.
#pragma once
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string_view>

#include "common/prefetch.hpp"
#include "common/published.hpp"
#include "index/quantized_index.hpp"
#include "index/vector_table.hpp"
#include "index/version_rows.hpp"
#include "storage/column.hpp"
#include "storage/text_arena.hpp"

namespace tessera {

struct ChunkId {
  uint8_t bytes[16];
};

/// A chunk to append.
struct Chunk {
  const ChunkId& id;
  /// Null in a shard of dimension 0.
  const float* vector;
  std::string_view text;
};

struct ShardStats {
  uint64_t codeBytes, vectorBytes, graphBytes, renderedBytes, idBytes;
  uint32_t graphed;
  SearchEffort effort;
};

class Shard {
 public:
  /// Rows that a shard may have; an ordinal has this many bits for the row.
  static constexpr uint32_t ROW_BITS = 22;
  static constexpr uint32_t MAX_ROWS = 1u << ROW_BITS;

  Shard(uint32_t number, uint32_t dimension);

  /// Minimum number of nodes for a graph. A test lowers it to get graphs of little data.
  static uint32_t graphNodes();
  static void setGraphNodes(uint32_t nodes);

  /// Its position in the index.
  uint32_t number() const { return number_; }
  /// Unique among all shards in the lifetime of the process.
  uint64_t serial() const { return serial_; }
  uint32_t dimension() const { return vectors_.dimension(); }
  uint32_t rows() const { return rows_.load(std::memory_order_acquire); }
  uint32_t nodes() const { return vectors_.nodes(); }

  /// Appends a chunk, whose vector has this hash and is the vector of `node`, or NONE for a new vector and without a
  /// vector. Returns the row. Writer only. `quantize` must follow before a scope names the row.
  uint32_t append(const Chunk& chunk, uint64_t hash, uint32_t node);
  /// Encodes the new nodes. Writer only.
  void quantize();

  const ChunkId& id(uint32_t row) const { return ids_.at(row); }
  std::string_view text(uint32_t row) const { return texts_.at(textLocations_.at(row)); }
  /// The rows of the chunks of each file version.
  const VersionRows& versions() const { return versions_; }
  /// The node of a chunk's vector; NONE in a shard of dimension 0.
  uint32_t nodeOf(uint32_t row) const { return nodeOf_.at(row); }
  /// The number of a chunk in the index.
  uint32_t ordinalOf(uint32_t row) const { return number_ << ROW_BITS | row; }
  const VectorTable& vectors() const { return vectors_; }

  /// The codes and the graph; null while the shard is empty.
  std::shared_ptr<const QuantizedIndex> quantized() const {
    return quantized_.load();
  }

  // Maintenance. One thread at a time, which need not be the writer. Each call does one step of work and returns
  // false if it did nothing.

  /// Replaces the codes by codes with a better centre, until the shard has a graph.
  bool recentre(std::mutex& writer, const std::atomic<bool>& cancelled);
  /// Makes the next generation of the graph.
  bool growGraph(unsigned threads, const std::atomic<bool>& cancelled);
  /// Measures the effort that searches need.
  bool calibrate(const std::atomic<bool>& cancelled);
  /// Nodes that are not in the graph yet.
  uint32_t pendingNodes() const;

  /// Makes the next maintenance measure the effort of searches again.
  void requestCalibration() { recalibrate_ = true; }

  ShardStats stats() const;

  /// Prefetches the head of the list of a node's chunks.
  void prefetchChunks(uint32_t node) const { prefetch(&heads_.at(node), sizeof(uint32_t)); }

  /// Calls `visit(row)` for the chunks of a node, newest first.
  template <typename Visit>
  void forEachChunk(uint32_t node, Visit visit) const {
    uint32_t row = heads_.at(node).load(std::memory_order_acquire);
    for (; row != NONE; row = next_.at(row)) visit(row);
  }

 private:
  friend class SnapshotCodec;

  bool isGrowing(uint32_t graphed, uint32_t pending) const;

  const uint32_t number_;
  const uint64_t serial_;
  std::atomic<uint32_t> rows_{0};
  ColumnOf<ChunkId> ids_;
  ColumnOf<TextLocation> textLocations_;
  ColumnOf<uint32_t> nodeOf_;
  /// The next older chunk of the same node.
  ColumnOf<uint32_t> next_;
  TextArena texts_;
  VersionRows versions_;

  VectorTable vectors_;
  /// The newest chunk of each node.
  ColumnOf<std::atomic<uint32_t>> heads_;
  Published<QuantizedIndex> quantized_;
  std::atomic<bool> recalibrate_{false};
  /// When the last node was added, in ticks of the steady clock.
  std::atomic<std::chrono::steady_clock::rep> grownAt_{0};
};

}  // namespace tessera
