// The chunks of one project and one dimension, and their vectors.
//
// A chunk has an *ordinal*; a *node* is a distinct vector. Chunks whose vectors are equal bit by
// bit share a node. Versions of a file repeat most of their chunks, so this saves memory. It also
// keeps the graph free of equal points, which would link only to each other.
#pragma once
#include <atomic>
#include <memory>
#include <string_view>

#include "index/quantized_index.hpp"
#include "index/vector_table.hpp"
#include "storage/column.hpp"
#include "storage/text_arena.hpp"

namespace tessera {

struct ChunkId {
  uint8_t bytes[16];
};

/// Chunks to append. `ends[i]` is where the text of chunk i ends in `texts`.
struct Batch {
  uint32_t count;
  const uint8_t* ids;
  const float* vectors;
  std::string_view texts;
  const uint32_t* ends;
};

struct IndexStats {
  uint64_t codeBytes, vectorBytes, graphBytes, renderedBytes, idBytes;
  uint32_t graphed;
  SearchEffort effort;
};

class Index {
 public:
  explicit Index(uint32_t dimension) : vectors_(dimension) {}

  uint32_t dimension() const { return vectors_.dimension(); }
  uint32_t ordinals() const { return ordinals_.load(std::memory_order_acquire); }
  uint32_t nodes() const { return vectors_.nodes(); }

  /// Appends a validated batch and returns its first ordinal. One writer at a time.
  uint32_t append(const Batch& batch);

  const ChunkId& id(uint32_t ordinal) const { return ids_.at(ordinal); }
  std::string_view text(uint32_t ordinal) const { return texts_.at(textLocations_.at(ordinal)); }
  uint32_t nodeOf(uint32_t ordinal) const { return nodeOf_.at(ordinal); }
  const VectorTable& vectors() const { return vectors_; }

  /// Inserts up to `maxVectors` pending vectors into the graph and returns how many are left.
  /// Writer only.
  uint32_t extendGraph(uint32_t maxVectors);

  /// Makes the next maintenance measure the effort of searches again. Writer only.
  void requestCalibration();

  /// The codes and the graph; null while the index is empty.
  std::shared_ptr<const QuantizedIndex> quantized() const {
    return quantized_.load(std::memory_order_acquire);
  }

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
  void quantizeNodes();
  uint32_t reencode(uint32_t maxNodes);

  std::atomic<uint32_t> ordinals_{0};
  ColumnOf<ChunkId> ids_;
  ColumnOf<TextLocation> textLocations_;
  ColumnOf<uint32_t> nodeOf_;
  /// The next older chunk of the same node.
  ColumnOf<uint32_t> next_;
  TextArena texts_;

  VectorTable vectors_;
  /// The newest chunk of each node.
  ColumnOf<std::atomic<uint32_t>> heads_;
  std::atomic<std::shared_ptr<QuantizedIndex>> quantized_;
  /// A replacement with a better centre, published once it encodes all nodes. Writer only.
  std::shared_ptr<QuantizedIndex> nextQuantized_;
};

}  // namespace tessera
