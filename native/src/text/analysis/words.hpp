// Cuts texts at separators, without a string for a word in ASCII.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "common/limits.hpp"
#include "text/analysis/joined.hpp"
#include "text/analysis/symbol_names.hpp"
#include "text/analysis/tokenizer.hpp"
#include "text/page/markdown_units.hpp"

namespace tessera {

/// Typographic quotes, dashes and spaces: most of the characters in English texts that are not ASCII. U+203C
/// and U+2049 are pictographs. U+2028 to U+202E are rare.
constexpr bool isTypographic(char16_t unit) {
  if (unit < 0x2010 || unit > 0x205e) return unit == 0xa0;
  return unit != 0x203c && unit != 0x2049 && (unit < 0x2028 || unit > 0x202e);
}

constexpr bool isHebrew(char16_t unit) { return unit >= 0x5d0 && unit <= 0x5ea; }

/// True for a quote within a Hebrew acronym.
constexpr bool isGershayim(std::u16string_view text, size_t at) {
  return text[at] == u'"' && at > 0 && at + 1 < text.size() && isHebrew(text[at - 1]) &&
         isHebrew(text[at + 1]);
}

constexpr char16_t lowerAscii(char16_t unit) {
  return static_cast<char16_t>(unit >= u'A' && unit <= u'Z' ? unit + 32 : unit);
}

/// Signs that have a meaning together, and the most that do.
inline constexpr size_t MAX_SIGNS = 3;
inline constexpr auto IS_SIGN = [] {
  std::array<bool, 0x80> isSign{};
  for (const char16_t sign : std::u16string_view(u"!?&|=<>:~^%+*.@#$-/\\")) isSign[sign] = true;
  return isSign;
}();

/// Receives the words of a text in order. The views are valid during the call.
struct WordSink {
  /// A token of ASCII letters and digits, or a name with symbols in lower case, and its place in the text.
  void token(std::u16string_view, size_t /*start*/, size_t /*end*/) {}
  /// An ASCII word with a capital inside, such as `getStaticProps` or `HTTP`, or with both letters and digits, such as
  /// `utf8`, after its token.
  void compound(std::u16string_view /*word*/) {}
  /// A piece of text with other characters, without any ASCII separator.
  void other(std::u16string_view /*piece*/, size_t /*start*/) {}
  /// A joined spelling, such as `USA` for `U.S.A.`, and its place in the text.
  void joined(std::u16string_view, size_t /*start*/, size_t /*end*/) {}
  /// Two or three signs together, such as `?.`.
  void signs(std::u16string_view, size_t /*start*/) {}
};

template <typename Sink>
void eachWord(std::u16string_view text, Sink& sink) {
  const auto isWordAt = [&](size_t at) {
    return isWord(text[at]) ? !isTypographic(text[at]) : isGershayim(text, at);
  };
  const auto isSignAt = [&](size_t at) { return text[at] < IS_SIGN.size() && IS_SIGN[text[at]]; };
  SymbolNames names(text);
  char16_t lower[MAX_WORD_CHARS];
  const auto lowered = [&](size_t start, size_t end) {
    const size_t length = std::min(end - start, MAX_WORD_CHARS);
    std::ranges::transform(text.substr(start, length), lower, lowerAscii);
    return std::u16string_view(lower, length);
  };
  for (size_t at = 0; at < text.size();) {
    const size_t start = at;
    if (!isWordAt(at)) {
      while (at < text.size() && isSignAt(at)) at++;
      if (at - start > 1 && at - start <= MAX_SIGNS) sink.signs(text.substr(start, at - start), start);
      at = std::max(at, start + 1);
      continue;
    }
    bool isAscii = true, hasInnerCapital = false, hasLetter = false, hasDigit = false;
    for (; at < text.size() && isWordAt(at); at++) {
      const char16_t unit = text[at];
      isAscii = isAscii && unit < 0x80;
      hasInnerCapital = hasInnerCapital || (at > start && unit >= u'A' && unit <= u'Z');
      hasDigit = hasDigit || isDigit(unit);
      hasLetter = hasLetter || isLetter(unit);
    }
    names.open(start);
    const std::u16string_view piece = text.substr(start, at - start);
    if (isAscii) {
      sink.token(lowered(start, at), start, at);
      if (hasInnerCapital || (hasDigit && hasLetter)) sink.compound(piece);
    } else {
      sink.other(piece, start);
      if (const auto joined = geminatedIn(piece)) sink.joined(*joined, start, at);
    }
    names.close(start, at, [&](NameSpan name) { sink.token(lowered(name.start, name.end), name.start, name.end); });
    if (!isJoint(text, start, at)) continue;
    if (const auto joined = joinedAt(text, start)) sink.joined(joined->text, start, joined->end);
  }
}

}  // namespace tessera
