#include "text/analysis/symbol_names.hpp"

#include "common/limits.hpp"
#include "text/page/markdown_units.hpp"

namespace tessera {

static bool isNameUnit(char16_t unit) { return isDigit(unit) || isLetter(unit); }

static bool isScopeUnit(char16_t unit) {
  return isNameUnit(unit) || unit == u'-' || unit == u'_' || unit == u'.';
}

/// Characters that close an expression. A dot or a dash after one of them is an operator.
static bool isClosing(char16_t unit) { return unit == u')' || unit == u']' || unit == u'}'; }

/// The end of the run of such units from a position on.
static size_t endOf(std::u16string_view text, size_t from, bool (*belongs)(char16_t)) {
  size_t end = from;
  while (end < text.size() && belongs(text[end])) end++;
  return end;
}

/// The start of the ASCII letters and digits before a position of a word.
static size_t startOf(std::u16string_view text, size_t start, size_t end) {
  size_t from = end;
  while (from > start && isNameUnit(text[from - 1])) from--;
  return from;
}

bool SymbolNames::isName(NameSpan span) const {
  return !span.empty() && span.end - span.start <= MAX_WORD_CHARS && !goesOn(span.end);
}

/// True if the unit at the position belongs to the word or, as a diacritic, to the character before.
bool SymbolNames::goesOn(size_t position) const {
  const char16_t unit = at(position);
  if (unit < 0x80) return isLetter(unit);
  const UnitKind kind = Tokenizer::instance().kindOf(unit);
  return kind == SPACED_UNIT || kind == COMPLEX_UNIT;
}

void SymbolNames::openAt(size_t start) {
  if (start < open_.end || !isLetter(at(start))) return;
  const char16_t before = text_[start - 1];
  if (before == u'.') openDotted(start);
  if (before == u'-') openFlag(start);
  if (before == u'@') openScoped(start);
}

NameSpan SymbolNames::plusName(size_t start, size_t end) const {
  const char16_t next = at(end + 2);
  const size_t from = startOf(text_, start, end);
  if (at(end + 1) != u'+' || next == u'+' || isLetter(next) || from == end) return {};
  return {from, end + 2};
}

NameSpan SymbolNames::hashName(size_t start, size_t end) const {
  const char16_t next = at(end + 1);
  if (isNameUnit(next) || next == u'#' || !isLetter(text_[end - 1])) return {};
  return {startOf(text_, start, end), end + 1};
}

void SymbolNames::openVersion(size_t start, size_t end) {
  if (!isDigit(at(end + 1))) return;
  size_t from = end;
  while (from > start && isDigit(text_[from - 1])) from--;
  if (from == end) return;
  const bool isMarked = from > start && (text_[from - 1] | 0x20) == u'v';
  const size_t before = isMarked ? from - 1 : from;
  if (before > start && isNameUnit(text_[before - 1])) return;
  size_t to = end;
  while (at(to) == u'.' && isDigit(at(to + 1))) to = endOf(text_, to + 1, isDigit);
  open_ = {from, to};
}

void SymbolNames::openDotted(size_t start) {
  const char16_t before = start > 1 ? text_[start - 2] : u'\0';
  if (isNameUnit(before) || before == u'.' || isClosing(before)) return;
  open_ = {start - 1, endOf(text_, start, isNameUnit)};
}

void SymbolNames::openFlag(size_t start) {
  const size_t from = start > 1 && text_[start - 2] == u'-' ? start - 2 : start - 1;
  const char16_t before = from > 0 ? text_[from - 1] : u'\0';
  if (isNameUnit(before) || before == u'-' || isClosing(before)) return;
  size_t to = endOf(text_, start, isNameUnit);
  // After a single dash, several letters are probably a part of a word.
  const bool isLong = start > 1 && from == start - 2;
  if (!isLong && (to > start + 1 || before >= 0x80)) return;
  while (at(to) == u'-' && isNameUnit(at(to + 1))) to = endOf(text_, to + 1, isNameUnit);
  open_ = {from, to};
}

void SymbolNames::openScoped(size_t start) {
  const char16_t before = start > 1 ? text_[start - 2] : u'\0';
  if (isNameUnit(before) || before == u'.' || before == u'@') return;
  size_t to = endOf(text_, start, isScopeUnit);
  if (at(to) == u'/' && isNameUnit(at(to + 1))) to = endOf(text_, to + 1, isScopeUnit);
  while (!isNameUnit(text_[to - 1])) to--;
  open_ = {start - 1, to};
}

}  // namespace tessera
