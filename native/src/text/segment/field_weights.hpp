// Weights that are applied when a segment is written and are part of its postings: raise `SNAPSHOT_FORMAT` in
// `src/index/snapshots/manifest.ts` when one of them changes. `weights.hpp` has the weights of queries.
#pragma once
#include <string_view>

namespace tessera {

/// The weight of a token in a field, relative to the content, and the influence of the field's length (BM25F).
struct FieldWeight {
  double boost;
  /// Length normalisation, BM25's b. 0: length does not matter; 1: twice the length counts half.
  double b;
  /// The length in tokens at which a token counts exactly `boost`.
  double pivotLength;
};

inline constexpr FieldWeight PATH_WEIGHT{1.5, 0.3, 5};
inline constexpr FieldWeight TITLE_WEIGHT{3, 0.3, 4};
inline constexpr FieldWeight HEADINGS_WEIGHT{3, 0.5, 12};
/// A search normalises the length of the content by the average of its scope.
inline constexpr FieldWeight CONTENT_WEIGHT{1, 0, 1};

/// The weight of the values of a key of the frontmatter.
FieldWeight keyWeight(std::u16string_view key);

/// The weight of a subword of an identifier, as a share of a token of its own.
inline constexpr double SUBWORD_SHARE = 0.15;
/// The weight of a joined spelling of words that the text writes apart, as a share of a token of its own.
inline constexpr double JOINED_SHARE = 0.85;

}  // namespace tessera
