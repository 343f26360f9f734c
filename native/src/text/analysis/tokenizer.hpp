// The tokens of a text, the same way for documents and queries.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/limits.hpp"
#include "text/analysis/folding.hpp"

namespace tessera {

/// Where a token is in a text, in UTF-16 code units, at boundaries of characters.
struct TokenSpan {
  size_t start;
  size_t end;
  std::u16string token;
};

/// Characters, as readers see them, are folded one by one (`folding.hpp`). A token is a run of letters, digits and
/// their marks. In scripts that are written without spaces, every pair of neighbouring characters (bigram) is a token,
/// and so is the last character of a run, so that every single character is a prefix of some token. Pictographs are
/// tokens too, and so are names with symbols (`symbol_names.hpp`), after those of their words.
class Tokenizer {
 public:
  /// All threads share it.
  static const Tokenizer& instance();

  std::vector<TokenSpan> tokensOf(std::u16string_view text) const;
  /// Spellings and signs of a text in addition to its tokens: words in parts that other texts write as one (`24,500`,
  /// `U.S.A.`), and signs that have a meaning together (`?.`, `=>`).
  std::vector<TokenSpan> spellingsOf(std::u16string_view text) const;

  /// Calls `visit(token, start, end)` for the tokens of a text in any script without ASCII separators.
  template <typename Visit>
  void eachToken(std::u16string_view piece, const Visit& visit) const {
    const bool isSimple =
        std::ranges::none_of(piece, [&](char16_t unit) { return kindOf(unit) == COMPLEX_UNIT; });
    if (!isSimple) {
      for (const TokenSpan& own : complexTokensOf(piece)) visit(own.token, own.start, own.end);
      return;
    }
    char16_t token[MAX_WORD_CHARS];
    const auto fold = [&](size_t from, size_t to) {
      const auto last = std::transform(piece.begin() + from, piece.begin() + to, token,
                                       [&](char16_t unit) { return foldedUnit(unit); });
      return std::u16string_view(token, static_cast<size_t>(last - token));
    };
    for (size_t start = 0, end = 0; start < piece.size(); start = end) {
      const UnitKind kind = kindOf(piece[start]);
      while (end < piece.size() && kindOf(piece[end]) == kind) end++;
      if (kind == SPACED_UNIT) visit(fold(start, std::min(end, start + MAX_WORD_CHARS)), start, end);
      if (kind != UNSPACED_UNIT) continue;
      for (size_t i = start; i < end; i++) visit(fold(i, std::min(end, i + 2)), i, std::min(end, i + 2));
    }
  }

  /// The kind of a code unit, and the one that replaces it in a token unless it is complex.
  UnitKind kindOf(char16_t unit) const { return static_cast<UnitKind>(kinds_[unit]); }
  char16_t foldedUnit(char16_t unit) const { return folded_[unit]; }

  /// The last start of a grapheme at or before a position, if it is near.
  size_t characterStart(std::u16string_view text, size_t position) const;

 private:
  Tokenizer();
  /// The tokens of a text that must be folded character by character.
  std::vector<TokenSpan> complexTokensOf(std::u16string_view piece) const;

  std::vector<uint8_t> kinds_;
  std::u16string folded_;
};

}  // namespace tessera
