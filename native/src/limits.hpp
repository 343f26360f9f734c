// Every bound of the native search core, named with its unit.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tessera {

/// Dimensions that an index may have, ascending.
inline constexpr uint32_t DIMENSIONS[] = {768, 1024, 1536, 3072, 4096};
inline constexpr size_t DIMENSION_COUNT = 5;
inline constexpr uint32_t MAX_DIMENSION = 4096;

/// Rows of one slab of a column: growth happens slab by slab, so that no row ever moves.
inline constexpr uint32_t SLAB_ROW_BITS = 12;
inline constexpr uint32_t SLAB_ROWS = 1u << SLAB_ROW_BITS;
/// The same for columns that searches jump about in.
inline constexpr uint32_t HOT_SLAB_ROW_BITS = 16;
inline constexpr uint32_t MAX_SLABS = 1u << 14;
inline constexpr uint32_t MAX_ROWS = SLAB_ROWS * MAX_SLABS;

/// Bytes of one slab of rendered text; a longer text gets a slab of its own.
inline constexpr size_t TEXT_SLAB_BYTES = size_t{4} << 20;
/// Bytes of one rendered chunk at most.
inline constexpr size_t MAX_TEXT_BYTES = size_t{64} << 20;

inline constexpr uint32_t DEFAULT_LIMIT = 10;
inline constexpr uint32_t MAX_LIMIT = 100;
inline constexpr double DEFAULT_THRESHOLD = 0.7;

/// Nesting of a JSON body beyond which the slow path decides.
inline constexpr int MAX_JSON_DEPTH = 64;

/// Marks the end of a chain and an unused graph link.
inline constexpr uint32_t NONE = 0xffffffffu;

/// Bytes of a project or scope name and of a request path at most.
inline constexpr size_t MAX_NAME_BYTES = 128;
inline constexpr size_t MAX_PATH_BYTES = 16384;

inline int dimensionSlot(uint32_t dimension) {
  for (size_t slot = 0; slot < DIMENSION_COUNT; slot++) {
    if (DIMENSIONS[slot] == dimension) return static_cast<int>(slot);
  }
  return -1;
}

}  // namespace tessera
