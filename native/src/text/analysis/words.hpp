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

/// The most signs that have a meaning together.
inline constexpr size_t MAX_SIGNS = 3;

/// The roles of code units in words, as bits; 0 for a separator.
enum UnitRole : uint8_t { SIGN_ROLE = 1, DIGIT_ROLE = 2, SMALL_ROLE = 4, CAPITAL_ROLE = 8, OTHER_ROLE = 16 };
inline constexpr uint8_t WORD_ROLES = DIGIT_ROLE | SMALL_ROLE | CAPITAL_ROLE | OTHER_ROLE;
inline constexpr auto ASCII_ROLES = [] {
  std::array<uint8_t, 0x80> roles{};
  for (const char16_t sign : std::u16string_view(u"!?&|=<>:~^%+*.@#$-/\\")) roles[sign] = SIGN_ROLE;
  for (char16_t digit = u'0'; digit <= u'9'; digit++) roles[digit] = DIGIT_ROLE;
  for (char16_t letter = u'a'; letter <= u'z'; letter++) roles[letter] = SMALL_ROLE;
  for (char16_t letter = u'A'; letter <= u'Z'; letter++) roles[letter] = CAPITAL_ROLE;
  return roles;
}();
constexpr uint8_t roleOf(char16_t unit) {
  if (unit < ASCII_ROLES.size()) return ASCII_ROLES[unit];
  return isTypographic(unit) ? 0 : OTHER_ROLE;
}

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
  SymbolNames names(text);
  char16_t lower[MAX_WORD_CHARS];
  const auto lowered = [&](size_t start, size_t end) {
    const size_t length = std::min(end - start, MAX_WORD_CHARS);
    std::transform(text.data() + start, text.data() + start + length, lower, lowerAscii);
    return std::u16string_view(lower, length);
  };
  for (size_t at = 0; at < text.size();) {
    const size_t start = at;
    uint8_t roles = roleOf(text[at++]), inner = 0;
    if ((roles & WORD_ROLES) == 0) {
      if (roles != SIGN_ROLE) continue;
      while (at < text.size() && roleOf(text[at]) == SIGN_ROLE) at++;
      if (at - start > 1 && at - start <= MAX_SIGNS) sink.signs(text.substr(start, at - start), start);
      continue;
    }
    for (; at < text.size(); at++) {
      const uint8_t role = roleOf(text[at]);
      if ((role & WORD_ROLES) == 0 && !isGershayim(text, at)) break;
      inner |= role;
    }
    roles |= inner;
    names.open(start);
    const std::u16string_view piece = text.substr(start, at - start);
    if ((roles & OTHER_ROLE) == 0) {
      sink.token(lowered(start, at), start, at);
      const bool isMixed = (roles & DIGIT_ROLE) != 0 && roles != DIGIT_ROLE;
      if (isMixed || (inner & CAPITAL_ROLE) != 0) sink.compound(piece);
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
