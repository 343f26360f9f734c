// The chunks of one project and one dimension, and their vectors.
//
// A chunk has an ordinal; a *node* is a distinct vector. Chunks whose vectors are equal bit by bit
// share a node: versions of a file repeat most of their chunks, so this saves memory, and it keeps
// the graph free of equal points, which would otherwise link only to each other.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>

#include "arena.hpp"
#include "column.hpp"
#include "limits.hpp"
#include "sketch.hpp"

namespace tessera {

struct ChunkId {
  uint8_t bytes[16];
};

/// A batch of chunks to append; `ends[i]` is where the text of chunk i ends in `texts`.
struct Batch {
  uint32_t count;
  const uint8_t* ids;
  const float* vectors;
  std::string_view texts;
  const uint32_t* ends;
};

struct IndexStats {
  uint64_t codeBytes, vectorBytes, graphBytes, renderedBytes, idBytes;
  uint32_t graphed, expansion;
};

class Index {
 public:
  explicit Index(uint32_t dimension);

  uint32_t dimension() const { return dimension_; }
  uint32_t ordinals() const { return ordinals_.load(std::memory_order_acquire); }
  uint32_t nodes() const { return nodes_.load(std::memory_order_acquire); }

  /// Appends a checked batch and returns its first ordinal. One writer at a time.
  uint32_t append(const Batch& batch);

  const ChunkId& id(uint32_t ordinal) const { return ids_.at(ordinal); }
  std::string_view text(uint32_t ordinal) const { return texts_.at(places_.at(ordinal)); }
  uint32_t nodeOf(uint32_t ordinal) const { return nodeOf_.at(ordinal); }

  const float* vector(uint32_t node) const {
    return reinterpret_cast<const float*>(vectors_.row(node));
  }
  double inverseNorm(uint32_t node) const { return inverseNorms_.at(node); }

  /// Inserts up to `most` waiting vectors into the graph and returns how many still wait. Only the
  /// writer calls it.
  uint32_t extendGraph(uint32_t most);

  /// The codes and the graph; null while the index is empty.
  std::shared_ptr<const Sketch> sketch() const { return sketch_.load(std::memory_order_acquire); }

  IndexStats stats() const;

  /// Calls `visit(ordinal)` for the chunks of a node, newest first.
  template <typename Visit>
  void forEachChunk(uint32_t node, Visit visit) const {
    uint32_t ordinal = heads_.at(node).load(std::memory_order_acquire);
    for (; ordinal != NONE; ordinal = next_.at(ordinal)) visit(ordinal);
  }

 private:
  friend class SnapshotCodec;

  uint32_t nodeFor(const float* vector);
  void sketchNodes();
  uint32_t recode(uint32_t most);
  void rememberNode(uint32_t node) { byHash_.emplace(hashes_.at(node), node); }

  uint32_t dimension_;
  std::atomic<uint32_t> ordinals_{0};
  std::atomic<uint32_t> nodes_{0};

  ColumnOf<ChunkId> ids_;
  ColumnOf<Place> places_;
  ColumnOf<uint32_t> nodeOf_;
  ColumnOf<uint32_t> next_;
  Arena texts_;

  Column vectors_;
  ColumnOf<double> inverseNorms_;
  ColumnOf<uint64_t> hashes_;
  ColumnOf<std::atomic<uint32_t>> heads_;
  std::unordered_multimap<uint64_t, uint32_t> byHash_;
  std::atomic<std::shared_ptr<Sketch>> sketch_;
  /// With a better centre; takes the place of the other once it codes all nodes. The writer's alone.
  std::shared_ptr<Sketch> nextSketch_;
};

}  // namespace tessera
