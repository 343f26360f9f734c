// Every bound of the native search core, with its unit.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tessera {

// Bounds that the schemas and src/domain/limits.ts repeat. A test compares them.
/// Dimensions that an index may have, ascending.
inline constexpr uint32_t DIMENSIONS[] = {768, 1024, 1536, 3072, 4096};
inline constexpr size_t DIMENSION_COUNT = 5;
inline constexpr uint32_t MAX_DIMENSION = 4096;
/// The dimension of the index of the chunks that have no vector.
inline constexpr uint32_t NO_VECTORS = 0;
/// The indexes of a project: one per dimension, and the one without vectors.
inline constexpr size_t INDEX_COUNT = DIMENSION_COUNT + 1;
inline constexpr uint32_t DEFAULT_LIMIT = 10;
inline constexpr uint32_t MIN_LIMIT = 1;
inline constexpr uint32_t MAX_LIMIT = 100;
inline constexpr double DEFAULT_THRESHOLD = 0.7;
inline constexpr double MIN_THRESHOLD = 0;
inline constexpr double MAX_THRESHOLD = 1;
/// Members that a search ignores and reports by name.
inline constexpr size_t MAX_IGNORED_FIELDS = 10;
/// Faults of a body that an answer lists.
inline constexpr size_t MAX_FIELD_FAULTS = 32;
/// Twice the length of the longest vector in base64, which has four characters for three bytes.
inline constexpr size_t MAX_BASE64_CHARS = 2 * 4 * ((4 * MAX_DIMENSION + 2) / 3);

/// The length of the longest value that facets list, as of strings in filters, in UTF-16 units.
inline constexpr size_t MAX_FACET_VALUE_CHARS = 1'024;

/// Maximum length of a word. Longer words are cut.
inline constexpr size_t MAX_WORD_CHARS = 64;
/// The length of a snippet, without the ellipses.
inline constexpr size_t MAX_SNIPPET_CHARS = 240;

/// Tokens per document that the second pass of a ranking examines, and a snippet at a time.
inline constexpr size_t MAX_RERANK_TOKENS = 16'384;

/// Rows of one slab of a column. Columns grow by whole slabs, so no row ever moves.
inline constexpr uint32_t SLAB_ROW_BITS = 12;
inline constexpr uint32_t SLAB_ROWS = 1u << SLAB_ROW_BITS;
/// The same for columns of small rows that searches read at random.
inline constexpr uint32_t HOT_SLAB_ROW_BITS = 16;
inline constexpr uint32_t MAX_SLABS = 1u << 14;
inline constexpr uint32_t MAX_ROWS = SLAB_ROWS * MAX_SLABS;

/// Bytes of one slab of rendered text. A longer text gets a slab of its own.
inline constexpr size_t TEXT_SLAB_BYTES = size_t{4} << 20;
/// Most bytes of one rendered chunk.
inline constexpr size_t MAX_TEXT_BYTES = size_t{64} << 20;

/// Most bytes of a project or scope name, and of a file or request path.
inline constexpr size_t MAX_NAME_BYTES = 128;
inline constexpr size_t MAX_PATH_BYTES = 16384;

/// No row: marks the end of a chain and an unused link of the graph.
inline constexpr uint32_t NONE = 0xffffffffu;

/// The position of a dimension in `DIMENSIONS`; -1 for any other number.
inline int dimensionSlot(uint32_t dimension) {
  for (size_t slot = 0; slot < DIMENSION_COUNT; slot++) {
    if (DIMENSIONS[slot] == dimension) return static_cast<int>(slot);
  }
  return -1;
}

/// The position of the index of a dimension among the indexes of a project; -1 for a number that is not a dimension.
inline int indexSlot(uint32_t dimension) {
  return dimension == NO_VECTORS ? static_cast<int>(DIMENSION_COUNT) : dimensionSlot(dimension);
}

/// The dimension of the index in this position.
inline uint32_t dimensionAt(size_t slot) { return slot < DIMENSION_COUNT ? DIMENSIONS[slot] : NO_VECTORS; }

}  // namespace tessera
