#include "text/analysis/unicode.hpp"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <vector>

#include "common/keyed_hash.hpp"

namespace tessera {

namespace {

/// The first of successive characters with equal properties, and the position of these.
struct CharacterRange {
  char32_t first;
  uint16_t properties;
};

namespace table {
#include "text/analysis/unicode_tables.inc"
}  // namespace table

constexpr char32_t BASIC_PLANE = 0x10000;

/// Syllables of Hangul and their letters, which follow from each other by arithmetic.
constexpr char32_t SYLLABLES = 0xac00, LEADINGS = 0x1100, VOWELS = 0x1161, TRAILINGS = 0x11a7;
constexpr uint32_t LEADING_COUNT = 19, VOWEL_COUNT = 21, TRAILING_COUNT = 28;
constexpr uint32_t SYLLABLE_COUNT = LEADING_COUNT * VOWEL_COUNT * TRAILING_COUNT;

/// The entries of a table: a character, and the text for it.
class Mapping {
 public:
  explicit Mapping(std::u32string_view table) {
    for (size_t start = 1; start < table.size();) {
      const size_t end = table.find_first_of(U"\t\n", start);
      entries_.push_back(table.substr(start, end - start));
      start = end + 1;
    }
  }

  std::u32string_view operator[](char32_t character) const {
    const auto entry = std::ranges::lower_bound(entries_, character, {}, [](auto own) { return own[0]; });
    return entry == entries_.end() || (*entry)[0] != character ? std::u32string_view() : entry->substr(1);
  }

  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

 private:
  std::vector<std::u32string_view> entries_;
};

struct Tables {
  Tables() : properties(BASIC_PLANE) {
    for (size_t r = 0; table::RANGES[r].first < BASIC_PLANE; r++) {
      const auto& [first, own] = table::RANGES[r];
      const char32_t end = std::min(table::RANGES[r + 1].first, BASIC_PLANE);
      std::fill(properties.begin() + first, properties.begin() + end, own);
    }
    for (const std::u32string_view own : composed) composites.emplace(pairOf(own[1], own[2]), own[0]);
  }

  static uint64_t pairOf(char32_t first, char32_t second) { return uint64_t{first} << 32 | second; }

  /// The position of the properties of each character of the basic plane.
  std::vector<uint16_t> properties;
  const Mapping composed{table::COMPOSED}, decomposed{table::DECOMPOSED}, compatible{table::COMPATIBLE};
  const Mapping lower{table::LOWER}, folded{table::FOLDED}, simplified{table::SIMPLIFIED};
  std::unordered_map<uint64_t, char32_t, KeyedHash> composites;
};

const Tables& tables() {
  // Never destroyed, because worker threads may still read it while the process exits.
  static const Tables* const all = new Tables();
  return *all;
}

/// The composition of two characters; 0 if they have none.
char32_t compositeOf(char32_t first, char32_t second) {
  const uint32_t leading = first - LEADINGS, vowel = second - VOWELS;
  if (leading < LEADING_COUNT && vowel < VOWEL_COUNT) {
    return SYLLABLES + (leading * VOWEL_COUNT + vowel) * TRAILING_COUNT;
  }
  const uint32_t syllable = first - SYLLABLES, trailing = second - TRAILINGS;
  const bool isOpen = syllable < SYLLABLE_COUNT && syllable % TRAILING_COUNT == 0;
  if (isOpen && trailing > 0 && trailing < TRAILING_COUNT) return first + trailing;
  const auto found = tables().composites.find(Tables::pairOf(first, second));
  return found == tables().composites.end() ? 0 : found->second;
}

void orderMarks(std::u32string& text) {
  const auto orderOf = [](char32_t character) { return propertiesOf(character).order; };
  for (auto at = text.begin(); at != text.end();) {
    const auto first = std::find_if(at, text.end(), orderOf);
    at = std::find_if_not(first, text.end(), orderOf);
    if (at - first > 1) std::ranges::stable_sort(first, at, {}, orderOf);
  }
}

}  // namespace

const CharacterProperties& propertiesOf(char32_t character) {
  if (character < BASIC_PLANE) return table::PROPERTIES[tables().properties[character]];
  const auto next = std::ranges::upper_bound(table::RANGES, character, {}, &CharacterRange::first);
  return table::PROPERTIES[std::prev(next)->properties];
}

std::string_view tablesVersion() { return table::TABLES_VERSION; }

std::string_view languageNames() { return table::LANGUAGE_NAMES; }

char32_t codePointAt(std::u16string_view text, size_t at) {
  const char16_t first = text[at];
  if (first < 0xd800 || first > 0xdbff || at + 1 == text.size()) return first;
  const char16_t second = text[at + 1];
  if (second < 0xdc00 || second > 0xdfff) return first;
  return BASIC_PLANE + ((first & 0x3ffu) << 10 | (second & 0x3ffu));
}

char32_t codePointBefore(std::u16string_view text, size_t at) {
  const char32_t whole = at > 1 ? codePointAt(text.substr(0, at), at - 2) : 0;
  return whole >= BASIC_PLANE ? whole : text[at - 1];
}

void append(std::u16string& text, char32_t character) {
  if (character < BASIC_PLANE) {
    text += static_cast<char16_t>(character);
    return;
  }
  text += static_cast<char16_t>(0xd800 + ((character - BASIC_PLANE) >> 10));
  text += static_cast<char16_t>(0xdc00 + (character & 0x3ff));
}

namespace {

/// The part of a grapheme cluster that was read, as far as it decides whether the next character belongs to it.
class Cluster {
 public:
  explicit Cluster(const CharacterProperties& first) { add(first); }

  bool takes(const CharacterProperties& next) const {
    const uint8_t own = next.grapheme;
    if (last_ == CONTROL || own == CONTROL) return false;
    if (own == EXTEND || own == JOINER || own == SPACING_MARK || last_ == PREPEND) return true;
    if (next.conjunct == CONSONANT && isLinked_) return true;
    switch (own) {
      case LEADING: case OPEN_SYLLABLE: case CLOSED_SYLLABLE:
        return last_ == LEADING;
      case VOWEL:
        return last_ == LEADING || last_ == VOWEL || last_ == OPEN_SYLLABLE;
      case TRAILING:
        return last_ == VOWEL || last_ == TRAILING || last_ == OPEN_SYLLABLE || last_ == CLOSED_SYLLABLE;
      case PICTOGRAPH:
        return last_ == JOINER && isPictograph_;
      case REGIONAL:
        return last_ == REGIONAL && isHalfFlag_;
      default:
        return false;
    }
  }

  void add(const CharacterProperties& next) {
    const uint8_t own = next.grapheme;
    isHalfFlag_ = own == REGIONAL && !(last_ == REGIONAL && isHalfFlag_);
    const bool goesOn = last_ != JOINER && (own == EXTEND || own == JOINER);
    isPictograph_ = own == PICTOGRAPH || (isPictograph_ && goesOn);
    isConjunct_ = next.conjunct == CONSONANT || (isConjunct_ && next.conjunct != NO_CONJUNCT);
    isLinked_ = isConjunct_ && next.conjunct != CONSONANT && (isLinked_ || next.conjunct == LINKER);
    last_ = own;
  }

 private:
  uint8_t last_ = OTHER_BREAK;
  /// A pictograph that only extending characters and at last a joiner follow.
  bool isPictograph_ = false;
  bool isHalfFlag_ = false;
  /// A consonant that only linkers and extending characters follow, and whether one of them is a linker.
  bool isConjunct_ = false;
  bool isLinked_ = false;
};

}  // namespace

size_t graphemeEnd(std::u16string_view text, size_t start) {
  char32_t character = codePointAt(text, start);
  Cluster cluster(propertiesOf(character));
  size_t at = start + unitsIn(character);
  for (; at < text.size(); at += unitsIn(character)) {
    character = codePointAt(text, at);
    const CharacterProperties& next = propertiesOf(character);
    if (!cluster.takes(next)) break;
    cluster.add(next);
  }
  return at;
}

void decompose(char32_t character, bool isCompatible, std::u32string& into) {
  const uint32_t syllable = character - SYLLABLES;
  if (syllable < SYLLABLE_COUNT) {
    const uint32_t trailing = syllable % TRAILING_COUNT, open = syllable / TRAILING_COUNT;
    into += LEADINGS + open / VOWEL_COUNT;
    into += VOWELS + open % VOWEL_COUNT;
    if (trailing > 0) into += TRAILINGS + trailing;
    return;
  }
  const CharacterProperties& own = propertiesOf(character);
  if (isCompatible && own.has(HAS_COMPATIBLE)) {
    into += tables().compatible[character];
  } else if (!own.has(DECOMPOSES)) {
    into += character;
  } else if (const std::u32string_view parts = tables().composed[character]; !parts.empty()) {
    decompose(parts[0], isCompatible, into);
    decompose(parts[1], isCompatible, into);
  } else {
    into += tables().decomposed[character];
  }
}

void compose(std::u32string& text) {
  orderMarks(text);
  size_t length = 0, base = 0;
  bool hasBase = false;
  /// The order of the last mark behind the base; -1 without marks.
  int last = -1;
  for (const char32_t character : text) {
    const int order = propertiesOf(character).order;
    const char32_t composite = hasBase && last < order ? compositeOf(text[base], character) : 0;
    if (composite != 0) {
      text[base] = composite;
      continue;
    }
    if (order == 0) base = length;
    hasBase = hasBase || order == 0;
    last = order == 0 ? -1 : order;
    text[length++] = character;
  }
  text.resize(length);
}

std::u16string composed(std::u16string_view text, bool isCompatible) {
  std::u32string characters;
  for (size_t at = 0; at < text.size();) {
    const char32_t character = codePointAt(text, at);
    decompose(character, isCompatible, characters);
    at += unitsIn(character);
  }
  compose(characters);
  std::u16string result;
  for (const char32_t character : characters) append(result, character);
  return result;
}

std::u32string_view lowerCaseOf(char32_t character) { return tables().lower[character]; }
std::u32string_view foldedForm(char32_t character) { return tables().folded[character]; }
std::u32string_view simplifiedForm(char32_t character) { return tables().simplified[character]; }

}  // namespace tessera
