// The interface of the tokenizer, which is written in TypeScript (`src/text/analysis`).
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

/// Where a token is in a text, in UTF-16 code units.
struct TokenSpan {
  size_t start;
  size_t end;
  std::u16string token;
};

/// The part that a code unit has in a token, if it does not depend on its neighbours.
enum UnitKind : uint8_t {
  /// It has not occurred yet.
  UNKNOWN_UNIT = 0,
  /// A run of them is one token.
  SPACED_UNIT = 1,
  /// Every pair of neighbours is a token, and so is the last one of a run.
  UNSPACED_UNIT = 2,
  SEPARATOR_UNIT = 3,
  /// It depends on its neighbours, or it becomes several.
  COMPLEX_UNIT = 4,
};

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  /// The tokens of a text in any script.
  virtual std::vector<TokenSpan> tokensOf(std::u16string_view text) const = 0;
  /// The spellings of one word in parts, such as `24,500`, and the signs that have a meaning together.
  virtual std::vector<TokenSpan> spellingsOf(std::u16string_view text) const = 0;

  /// The kind of a code unit, which may not have occurred yet.
  UnitKind kindOf(char16_t unit) const {
    if (kinds[unit] == UNKNOWN_UNIT) tokensOf({&unit, 1});
    return static_cast<UnitKind>(kinds[unit]);
  }

  /// The last start of a grapheme at or before a position, if it is near.
  size_t characterStart(std::u16string_view text, size_t position) const {
    constexpr size_t REACH = 32;
    for (size_t at = position; at > 0 && position - at <= REACH; at--) {
      if (at >= text.size() || text[at] < 0x80 || kindOf(text[at]) != COMPLEX_UNIT) return at;
    }
    const bool isSecond = text[position] >= 0xdc00 && text[position] <= 0xdfff;
    return isSecond && position > 0 ? position - 1 : position;
  }

  /// The kind of each code unit that has occurred, and the unit that replaces it in a token.
  std::span<const uint8_t> kinds;
  std::span<const uint16_t> folded;
};

}  // namespace tessera
