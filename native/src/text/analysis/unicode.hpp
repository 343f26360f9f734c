// Properties of characters, and transformations of texts by them. The tables are checked in, so they do not change
// with the runtime: see scripts/unicode-tables.ts.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tessera {

/// Properties that a character has or lacks, as bits.
enum CharacterFlag : uint16_t {
  UPPER_CASE = 1 << 0,
  /// Comparisons ignore it.
  REMOVED = 1 << 1,
  /// A default ignorable or a format character.
  INVISIBLE = 1 << 2,
  CASED = 1 << 3,
  CASE_IGNORABLE = 1 << 4,
  /// It belongs to a script without spaces between words.
  UNSPACED = 1 << 5,
  /// An apostrophe or a symbol, which no word consists of.
  STANDS_ALONE = 1 << 6,
  /// A mark that turns a character into a symbol.
  ENCLOSING = 1 << 7,
  PUNCTUATION_SIGN = 1 << 8,
  /// A table has another text for it: its canonical and its compatibility decomposition, its lower case, its form in
  /// tokens, and its simplified form in Chinese.
  DECOMPOSES = 1 << 9,
  HAS_COMPATIBLE = 1 << 10,
  HAS_LOWER = 1 << 11,
  FOLDS = 1 << 12,
  HAS_SIMPLIFIED = 1 << 13,
  /// A letter of Hangul, which may belong to the syllable of its neighbours.
  HANGUL_LETTER = 1 << 14,
};

enum Category : uint8_t { OTHER_CATEGORY, LETTER_CATEGORY, NUMBER_CATEGORY, MARK_CATEGORY };

/// Scripts of one language with a stemmer, and all others that have one.
enum Script : uint8_t { UNSTEMMED, GREEK, ARMENIAN, TAMIL, STEMMED };

/// The classes of UAX #29 for grapheme clusters.
enum GraphemeBreak : uint8_t {
  OTHER_BREAK, CONTROL, EXTEND, JOINER, SPACING_MARK, PREPEND, REGIONAL,
  LEADING, VOWEL, TRAILING, OPEN_SYLLABLE, CLOSED_SYLLABLE, PICTOGRAPH
};
enum Conjunct : uint8_t { NO_CONJUNCT, CONSONANT, LINKER, CONJUNCT_EXTEND };

struct CharacterProperties {
  uint16_t flags;
  uint8_t category;
  uint8_t script;
  uint8_t grapheme;
  uint8_t conjunct;
  /// The place of a mark among the marks of a character; 0 for all that keep theirs.
  uint8_t order;

  bool has(uint16_t flag) const { return (flags & flag) != 0; }
  bool isLetterOrNumber() const { return category == LETTER_CATEGORY || category == NUMBER_CATEGORY; }
};

const CharacterProperties& propertiesOf(char32_t character);
inline bool isPunctuation(char32_t character) { return propertiesOf(character).has(PUNCTUATION_SIGN); }

/// The version of Unicode and a hash of the tables. Words that were indexed by other tables may differ.
std::string_view tablesVersion();
/// Entries with the code or the name of a language, and the code that its stemmer has.
std::string_view languageNames();

/// The code point at a position within a text; a lone surrogate is one.
char32_t codePointAt(std::u16string_view text, size_t at);
/// The code point that ends before a position after the start of a text.
char32_t codePointBefore(std::u16string_view text, size_t at);
inline size_t unitsIn(char32_t character) { return character > 0xffff ? 2 : 1; }
void append(std::u16string& text, char32_t character);

/// True if all characters of a text meet a condition.
template <typename Meets>
bool consistsOf(std::u16string_view text, const Meets& meets) {
  for (size_t at = 0; at < text.size();) {
    const char32_t own = codePointAt(text, at);
    if (!meets(own)) return false;
    at += unitsIn(own);
  }
  return true;
}

/// The end of the character, as readers see it (grapheme cluster), that starts at a position within a text. A line
/// feed does not belong to a carriage return.
size_t graphemeEnd(std::u16string_view text, size_t start);

/// Appends the decomposition of a character. Its marks may have to be put in order.
void decompose(char32_t character, bool isCompatible, std::u32string& into);
/// Orders the marks of a decomposed text, and composes its characters.
void compose(std::u32string& text);
/// The normal forms NFC and NFKC.
std::u16string composed(std::u16string_view text, bool isCompatible);

/// The text in a table for a character that has its flag.
std::u32string_view lowerCaseOf(char32_t character);
std::u32string_view foldedForm(char32_t character);
std::u32string_view simplifiedForm(char32_t character);

}  // namespace tessera
