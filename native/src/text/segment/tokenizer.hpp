// How texts become tokens. TypeScript has the tokenizer (`src/text/analysis`); this is what it shares.
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

/// What a code unit is in a token, if that does not depend on its neighbours.
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

  /// The tokens of a text without ASCII separators, in any script.
  virtual std::vector<TokenSpan> tokensOf(std::u16string_view text) const = 0;

  /// The kind of each code unit that has occurred, and what it is folded to.
  std::span<const uint8_t> kinds;
  std::span<const uint16_t> folded;
};

}  // namespace tessera
