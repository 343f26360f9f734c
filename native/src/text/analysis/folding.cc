#include "text/analysis/folding.hpp"

#include "text/analysis/unicode.hpp"

namespace tessera {

namespace {

/// Flags of characters that folding may change or remove.
constexpr uint16_t CHANGES =
    REMOVED | STANDS_ALONE | ENCLOSING | DECOMPOSES | HAS_COMPATIBLE | FOLDS | HAS_SIMPLIFIED;

/// Signs that pictures show, although they are not used as pictographs.
bool isSign(char32_t character) { return character == U'©' || character == U'®'; }

bool isPicture(const CharacterProperties& own) { return own.grapheme == PICTOGRAPH || own.grapheme == REGIONAL; }

/// The kind of folded text, of which symbols are removed. Marks without a letter are not a word.
UnitKind kindOfFolded(std::u16string_view folded) {
  if (folded.empty()) return SEPARATOR_UNIT;
  const CharacterProperties& first = propertiesOf(codePointAt(folded, 0));
  if (!first.isLetterOrNumber()) return SEPARATOR_UNIT;
  return first.has(UNSPACED) ? UNSPACED_UNIT : SPACED_UNIT;
}

/// Folds case, compatibility forms, marks and national digits, and katakana to hiragana.
std::u32string foldLetters(std::u16string_view character) {
  std::u32string parts, folded;
  for (size_t at = 0; at < character.size();) {
    const char32_t own = codePointAt(character, at);
    decompose(own, true, parts);
    at += unitsIn(own);
  }
  for (const char32_t part : parts) {
    const CharacterProperties& own = propertiesOf(part);
    if (own.has(REMOVED)) continue;
    if (own.has(FOLDS)) folded += foldedForm(part);
    else folded += part;
  }
  compose(folded);
  return folded;
}

}  // namespace

UnitKind foldCharacter(std::u16string_view character, std::u16string& folded) {
  folded.clear();
  const char32_t first = codePointAt(character, 0);
  const CharacterProperties& properties = propertiesOf(first);
  const bool isAlone = unitsIn(first) == character.size();
  if (isAlone && !properties.has(CHANGES) && !isPicture(properties)) {
    const UnitKind kind = kindOfFolded(character);
    if (kind != SEPARATOR_UNIT) folded = character;
    return kind;
  }
  bool isPictograph = false, hasSign = false, isEnclosed = false;
  for (size_t at = 0; at < character.size();) {
    const char32_t own = codePointAt(character, at);
    isPictograph = isPictograph || isPicture(propertiesOf(own));
    hasSign = hasSign || isSign(own);
    isEnclosed = isEnclosed || propertiesOf(own).has(ENCLOSING);
    at += unitsIn(own);
  }
  if (isPictograph) {
    // Signs such as ™ and ℹ, which are letters by compatibility, are not pictographs.
    if (hasSign || composed(character, true) != character) return SEPARATOR_UNIT;
    folded = character;
    return PICTOGRAPH_UNIT;
  }
  if (properties.has(STANDS_ALONE) || isEnclosed) return SEPARATOR_UNIT;
  const std::u32string whole = foldLetters(character);
  if (whole.empty()) return IGNORED_UNIT;
  const auto add = [&](char32_t own) {
    if (propertiesOf(own).category != OTHER_CATEGORY) append(folded, own);
  };
  for (const char32_t own : whole) {
    if (propertiesOf(own).has(HAS_SIMPLIFIED)) {
      for (const char32_t other : simplifiedForm(own)) add(other);
    } else {
      add(own);
    }
  }
  const UnitKind kind = kindOfFolded(folded);
  if (kind == SEPARATOR_UNIT) folded.clear();
  return kind;
}

bool isUnspaced(std::u16string_view token) {
  return !token.empty() && propertiesOf(codePointAt(token, 0)).has(UNSPACED);
}

std::u16string simplifiedOf(std::u16string_view text) {
  std::u16string simplified;
  for (size_t at = 0; at < text.size();) {
    const char32_t own = codePointAt(text, at);
    if (propertiesOf(own).has(HAS_SIMPLIFIED)) {
      for (const char32_t other : simplifiedForm(own)) append(simplified, other);
    } else {
      append(simplified, own);
    }
    at += unitsIn(own);
  }
  return simplified;
}

}  // namespace tessera
