// Folds characters, as readers see them (grapheme clusters), to parts of tokens. The rules follow from their Unicode
// properties, except for a few letters that Unicode does not relate to others.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace tessera {

/// The role of a character in a text.
enum UnitKind : uint8_t {
  /// A run of them is one token.
  SPACED_UNIT = 1,
  /// Every pair of neighbours is a token, and so is the last one of a run.
  UNSPACED_UNIT = 2,
  SEPARATOR_UNIT = 3,
  /// A code unit that depends on its neighbours, or becomes several.
  COMPLEX_UNIT = 4,
  /// Each of them is a token.
  PICTOGRAPH_UNIT = 5,
  /// It is not a part of a run, and does not end one.
  IGNORED_UNIT = 6,
};

/// The kind of a character. Replaces `folded` by its text for comparisons; "" unless it is a part of a token.
UnitKind foldCharacter(std::u16string_view character, std::u16string& folded);

/// True if a token is of a script that is written without spaces between words.
bool isUnspaced(std::u16string_view token);

/// Chinese text in simplified characters.
std::u16string simplifiedOf(std::u16string_view text);

}  // namespace tessera
