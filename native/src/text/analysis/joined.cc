#include "text/analysis/joined.hpp"

#include <algorithm>
#include <array>

#include "text/analysis/unicode.hpp"
#include "text/page/markdown_units.hpp"

namespace tessera {

namespace {

constexpr size_t MAX_THOUSANDS_CHARS = 3;
constexpr size_t MAX_FUNCTION_WORD_CHARS = 5;
constexpr size_t MAX_ABBREVIATED_CHARS = 4;
/// Digits of a telephone number, and of its parts.
constexpr size_t MIN_PHONE_DIGITS = 7;
constexpr size_t MAX_PHONE_SIGNS = 3;
constexpr size_t MAX_PHONE_GROUPS = 6;
constexpr size_t MIN_HEX_DIGITS = 4;
constexpr size_t MAX_HEX_DIGITS = 16;
/// Parts of a word behind the first one.
constexpr size_t MIN_CHAIN_PARTS = 2;
constexpr size_t MAX_CHAIN_PARTS = 5;

constexpr std::array<Units, 9> ARABIC_ENDINGS = {u"an", u"a", u"at", u"if", u"in", u"is", u"it", u"on", u"or"};
/// `t-shirt` and `re-use` begin with letters that contractions leave.
constexpr std::array<Units, 16> FUNCTION_WORDS_FIRST = {u"all", u"by", u"down", u"how", u"i", u"in",
                                                        u"no", u"off", u"on", u"out", u"over", u"re",
                                                        u"t", u"to", u"under", u"up"};

using Belongs = bool (*)(const CharacterProperties&);

bool isLetterCategory(const CharacterProperties& own) { return own.category == LETTER_CATEGORY; }
bool isCapital(const CharacterProperties& own) { return own.has(UPPER_CASE); }
bool isLetterOrNumber(const CharacterProperties& own) { return own.isLetterOrNumber(); }

/// The end of the run of such characters from a position on, and their number.
struct Run {
  size_t end;
  size_t count = 0;
};

Run runAt(Units text, size_t start, Belongs belongs, size_t most = Units::npos) {
  Run run{start};
  for (; run.end < text.size() && run.count < most; run.count++) {
    const char32_t own = codePointAt(text, run.end);
    if (!belongs(propertiesOf(own))) break;
    run.end += unitsIn(own);
  }
  return run;
}

bool isAt(Units text, size_t at, Belongs belongs) { return runAt(text, at, belongs, 1).count > 0; }
bool isBefore(Units text, size_t at, Belongs belongs) {
  return at > 0 && belongs(propertiesOf(codePointBefore(text, at)));
}

size_t digitsAt(Units text, size_t at) {
  size_t end = at;
  while (isDigit(unitAt(text, end))) end++;
  return end - at;
}

bool isHyphen(char16_t unit) { return unit == u'-' || unit == u'_'; }
bool isApostrophe(char16_t unit) { return unit == u'\'' || unit == u'’'; }
bool isThinSpace(char16_t unit) { return unit == u' ' || unit == 0xa0 || unit == 0x2009 || unit == 0x202f; }
bool isPhoneSign(char16_t unit) { return Units(u" ()/.-").find(unit) != Units::npos; }
bool isHexDigit(char16_t unit) { return isDigit(unit) || ((unit | 0x20) >= u'a' && (unit | 0x20) <= u'f'); }

/// Signs of different classes do not separate the thousands of one number; 0 for all others.
int thousandsSign(char16_t unit) {
  if (unit == u',') return 1;
  if (unit == u'.') return 2;
  if (isApostrophe(unit)) return 3;
  return isThinSpace(unit) ? 4 : 0;
}

/// Each of the following returns the end of a spelling that starts at a word, or 0.

/// U.S.A., e.g.
size_t abbreviationEnd(Units text, size_t start) {
  const bool isWithin = start > 1 && text[start - 1] == u'.' && isBefore(text, start - 1, isLetterCategory);
  const Run first = runAt(text, start, isLetterCategory, 1);
  if (isWithin || first.count == 0) return 0;
  size_t end = first.end, before = 0, second = 0, parts = 0;
  while (unitAt(text, end) == u'.' && isAt(text, end + 1, isLetterCategory)) {
    before = end;
    end = runAt(text, end + 1, isLetterCategory, 1).end;
    if (++parts == 1) second = end;
  }
  if (parts > 1 && !isAt(text, end, isLetterOrNumber)) return end;
  if (parts > 2) return before;
  return parts > 0 && unitAt(text, second) == u'.' ? second : 0;
}

/// AT&T
size_t ampersandEnd(Units text, size_t start) {
  if (start > 0 && text[start - 1] == u'&') return 0;
  const Run first = runAt(text, start, isCapital, MAX_ABBREVIATED_CHARS);
  if (isBefore(text, start, isLetterCategory) || first.count == 0 || unitAt(text, first.end) != u'&') return 0;
  const Run second = runAt(text, first.end + 1, isCapital, MAX_ABBREVIATED_CHARS);
  const bool goesOn = isAt(text, second.end, isLetterCategory) || unitAt(text, second.end) == u'&';
  return second.count > 0 && !goesOn ? second.end : 0;
}

/// +49 30 1234567
size_t phoneEnd(Units text, size_t start) {
  if (start == 0 || text[start - 1] != u'+') return 0;
  size_t digits = 0;
  for (size_t at = start; digits < MIN_PHONE_DIGITS; at++, digits++) {
    while (isPhoneSign(unitAt(text, at)) && at < text.size()) at++;
    if (!isDigit(unitAt(text, at))) return 0;
  }
  const size_t first = digitsAt(text, start);
  if (first == 0 || first > MAX_THOUSANDS_CHARS) return 0;
  size_t end = start + first, groups = 0;
  for (; groups < MAX_PHONE_GROUPS; groups++) {
    size_t at = end;
    while (at - end <= MAX_PHONE_SIGNS && isPhoneSign(unitAt(text, at))) at++;
    const size_t own = digitsAt(text, at);
    if (at == end || at - end > MAX_PHONE_SIGNS || own == 0) break;
    end = at + own;
  }
  return groups > 0 ? end : 0;
}

/// 24,500
size_t thousandsEnd(Units text, size_t start) {
  const bool isWithin = start > 1 && isDigit(text[start - 2]) && thousandsSign(text[start - 1]) != 0;
  const size_t first = digitsAt(text, start);
  if (isWithin || first == 0 || first > MAX_THOUSANDS_CHARS) return 0;
  size_t end = start + first, groups = 0;
  const int sign = thousandsSign(unitAt(text, end));
  if (sign == 0) return 0;
  while (thousandsSign(unitAt(text, end)) == sign && digitsAt(text, end + 1) >= MAX_THOUSANDS_CHARS) {
    end += 1 + MAX_THOUSANDS_CHARS;
    groups++;
  }
  const size_t least = unitAt(text, start + first) == u'.' ? 2 : 1;
  const auto isEnd = [&](size_t at) {
    return !isAt(text, at, isLetterOrNumber) && !(unitAt(text, at) == u',' && isDigit(unitAt(text, at + 1)));
  };
  if (groups >= least && isEnd(end)) return end;
  const size_t before = end - 1 - MAX_THOUSANDS_CHARS;
  return groups > least && isEnd(before) ? before : 0;
}

/// 0x80070ABC
size_t hexadecimalEnd(Units text, size_t start) {
  if (text[start] != u'0' || (unitAt(text, start + 1) | 0x20) != u'x') return 0;
  size_t end = start + 2;
  while (end - start - 2 < MAX_HEX_DIGITS && isHexDigit(unitAt(text, end))) end++;
  return end - start - 2 >= MIN_HEX_DIGITS && !isAt(text, end, isLetterOrNumber) ? end : 0;
}

/// Qur'an, Xi'an, but not qu'on
size_t arabicNameEnd(Units text, size_t start) {
  if (isBefore(text, start, isLetterOrNumber) || (start > 0 && isApostrophe(text[start - 1]))) return 0;
  const auto [at, letters] = runAt(text, start, isLetterCategory);
  if (letters < 2 || !isApostrophe(unitAt(text, at))) return 0;
  if (text[at - 1] == u'u' && (text[at - 2] | 0x20) == u'q') return 0;
  for (const Units ending : ARABIC_ENDINGS) {
    const size_t end = at + 1 + ending.size();
    const bool goesOn = isAt(text, end, isLetterOrNumber) || isApostrophe(unitAt(text, end));
    if (startsAt(text, at + 1, ending) && !goesOn) return end;
  }
  return 0;
}

/// True within a chain of words with hyphens.
bool isChained(Units text, size_t start, Belongs belongs) {
  return start > 1 && isHyphen(text[start - 1]) && isBefore(text, start - 1, belongs);
}

/// max_pool_gates
size_t chainEnd(Units text, size_t start) {
  if (isChained(text, start, isLetterOrNumber)) return 0;
  Run part = runAt(text, start, isLetterOrNumber);
  if (part.count == 0) return 0;
  size_t end = part.end, parts = 0;
  for (; parts <= MAX_CHAIN_PARTS && isHyphen(unitAt(text, end)); parts++) {
    part = runAt(text, end + 1, isLetterOrNumber);
    if (part.count == 0) break;
    end = part.end;
  }
  return parts >= MIN_CHAIN_PARTS && parts <= MAX_CHAIN_PARTS ? end : 0;
}

/// Letters regardless of case include the mark of which iota is the capital.
bool isCaselessLetter(const CharacterProperties& own) {
  return own.category == LETTER_CATEGORY || (own.category == MARK_CATEGORY && own.has(CASED));
}
bool isCaselessLetterOrNumber(const CharacterProperties& own) {
  return isCaselessLetter(own) || own.category == NUMBER_CATEGORY;
}

/// re-use
size_t functionWordEnd(Units text, size_t start) {
  if (isChained(text, start, isCaselessLetterOrNumber)) return 0;
  const size_t hyphen = text.substr(start, MAX_FUNCTION_WORD_CHARS + 1).find(u'-');
  if (hyphen == Units::npos) return 0;
  const Units word = text.substr(start, hyphen);
  const auto isSame = [](char16_t letter, char16_t own) { return isLetter(own) && (own | 0x20) == letter; };
  const auto isWord = [&](Units own) { return std::ranges::equal(own, word, isSame); };
  if (std::ranges::none_of(FUNCTION_WORDS_FIRST, isWord)) return 0;
  const auto [end, letters] = runAt(text, start + hyphen + 1, isCaselessLetter);
  if (letters < 2 || isAt(text, end, isCaselessLetterOrNumber)) return 0;
  return isHyphen(unitAt(text, end)) && isAt(text, end + 1, isCaselessLetterOrNumber) ? 0 : end;
}

/// True if three parts may follow each other, or if the first one may be a function word. Queries cut other pairs.
bool isChainStart(Units text, size_t start, size_t end) {
  if (start > 0 && text[start - 1] == u'_') return false;
  if (text[end] == u'-' && end - start <= MAX_FUNCTION_WORD_CHARS) return true;
  // Some signs count, too: the spelling decides.
  const auto isPart = [](char16_t unit) { return unit >= u'0' && unit != u'_'; };
  size_t next = end + 1;
  while (isPart(unitAt(text, next))) next++;
  return next > end + 1 && isHyphen(unitAt(text, next));
}

/// The letters and numbers of a spelling, without the `0x` of a number.
std::u16string wordOf(Units spelling) {
  const Units head = spelling.substr(0, 2);
  if (head == u"0x" || head == u"0X") {
    const Units rest = spelling.substr(2);
    if (runAt(rest, 0, [](const CharacterProperties&) { return true; }, MIN_HEX_DIGITS).count == MIN_HEX_DIGITS) {
      spelling = rest;
    }
  }
  std::u16string word;
  for (size_t at = 0; at < spelling.size();) {
    const char32_t own = codePointAt(spelling, at);
    if (propertiesOf(own).isLetterOrNumber()) append(word, own);
    at += unitsIn(own);
  }
  return word;
}

}  // namespace

bool isJoint(Units text, size_t start, size_t end) {
  const char16_t next = unitAt(text, end);
  if (isHyphen(next)) return isChainStart(text, start, end);
  if (next == u'&') return true;
  // Function words that end names after an apostrophe begin with these, and the ends of contractions with other letters.
  const char16_t after = unitAt(text, end + 1);
  if (isApostrophe(next) && (after == u'a' || after == u'i' || after == u'o')) return end - start > 1;
  if (next == u'.' && end - start == 1) return true;
  if (!isDigit(text[start])) return false;
  return end - start <= MAX_THOUSANDS_CHARS || (text[start] == u'0' && (text[start + 1] | 0x20) == u'x');
}

std::optional<JoinedWord> joinedAt(Units text, size_t start) {
  constexpr std::array KINDS = {abbreviationEnd, ampersandEnd, phoneEnd, thousandsEnd,
                                hexadecimalEnd,  arabicNameEnd, chainEnd, functionWordEnd};
  for (const auto endOfKind : KINDS) {
    const size_t end = endOfKind(text, start);
    if (end != 0) return JoinedWord{wordOf(text.substr(start, end - start)), end};
  }
  return std::nullopt;
}

std::optional<std::u16string> geminatedIn(Units piece) {
  if (piece.find(u"l·l") == Units::npos) return std::nullopt;
  std::u16string word(piece);
  std::erase(word, u'·');
  return word;
}

}  // namespace tessera
