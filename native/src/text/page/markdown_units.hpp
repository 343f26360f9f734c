// Code units of Markdown.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "common/space.hpp"

namespace tessera {

using Units = std::u16string_view;

/// The unit at a position; 0 after the end.
inline char16_t unitAt(Units text, size_t at) { return at < text.size() ? text[at] : u'\0'; }

inline bool isBlank(char16_t unit) { return unit == u' ' || unit == u'\t'; }
inline bool isDigit(char16_t unit) { return unit >= u'0' && unit <= u'9'; }
/// In ASCII.
inline bool isLetter(char16_t unit) {
  return unit < 0x80 && (unit | 0x20) >= u'a' && (unit | 0x20) <= u'z';
}

/// True for a character of a word. All characters outside ASCII count as letters.
inline bool isWord(char16_t unit) { return isLetter(unit) || isDigit(unit) || unit >= 0x80; }

/// The end of the line at the position. Four units are examined together.
inline size_t endOfLine(Units text, size_t at) {
  constexpr uint64_t ONES = 0x0001000100010001, HIGHEST = 0x8000800080008000;
  uint64_t four;
  for (; at + 4 <= text.size(); at += 4) {
    std::memcpy(&four, text.data() + at, sizeof four);
    // A unit that is a line feed becomes zero, from which the subtraction borrows.
    four ^= ONES * u'\n';
    if (((four - ONES) & ~four & HIGHEST) != 0) break;
  }
  return std::min(text.find(u'\n', at), text.size());
}

inline bool startsAt(Units text, size_t at, Units expected) {
  return text.substr(std::min(at, text.size())).starts_with(expected);
}

/// The length of the run of a unit that starts at the position.
inline size_t countOf(Units text, size_t at, char16_t unit) {
  size_t end = at;
  while (unitAt(text, end) == unit && end < text.size()) end++;
  return end - at;
}

inline Units trimmedEnd(Units text) {
  while (!text.empty() && isSpace(text.back())) text.remove_suffix(1);
  return text;
}

inline Units trimmed(Units text) {
  while (!text.empty() && isSpace(text.front())) text.remove_prefix(1);
  return trimmedEnd(text);
}

}  // namespace tessera
