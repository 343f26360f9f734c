// Where the bytes of a snapshot are in its files.
#pragma once
#include <algorithm>
#include <cstdint>

#include "storage/column.hpp"

namespace tessera {

/// A run of bytes in one of the files of a snapshot, as the layout stores it. The first file has the state.
struct Extent {
  uint64_t file;
  uint64_t offset;
  uint64_t length;
};

/// Whether the rows of a column change after they were written.
enum class Rows {
  IMMUTABLE,
  /// Immutable and large: full slabs get files of their own, and are mapped from them.
  SEALED,
  /// The same, but they stay in memory, because searches read them at random.
  SEALED_IN_MEMORY,
  MUTABLE,
};

inline bool isSealed(Rows kind) { return kind == Rows::SEALED || kind == Rows::SEALED_IN_MEMORY; }

/// The slabs that hold the first `rows` rows of a column.
inline size_t slabsOf(const Column& column, uint32_t rows) {
  return (size_t{rows} + column.slabRows() - 1) / column.slabRows();
}

/// The rows in use of one slab of a column that has `rows` rows.
inline uint32_t rowsOfSlab(const Column& column, uint32_t rows, size_t slab) {
  const uint64_t left = rows - slab * column.slabRows();
  return static_cast<uint32_t>(std::min<uint64_t>(left, column.slabRows()));
}

}  // namespace tessera
