#include "text/analysis/identifiers.hpp"

#include <algorithm>

namespace tessera {

namespace {

using View = std::u16string_view;

bool isUpper(char16_t unit) { return unit >= u'A' && unit <= u'Z'; }
bool isLower(char16_t unit) { return unit >= u'a' && unit <= u'z'; }
bool isNumeral(char16_t unit) { return unit >= u'0' && unit <= u'9'; }
bool isWordUnit(char16_t unit) { return isUpper(unit) || isLower(unit) || isNumeral(unit); }

/// The end of the run of such units from a position on.
template <typename Belongs>
size_t endOf(View text, size_t from, const Belongs& belongs) {
  const auto end = std::find_if_not(text.begin() + static_cast<std::ptrdiff_t>(from), text.end(), belongs);
  return static_cast<size_t>(end - text.begin());
}

/// True for a capital after a lower-case letter or a digit that is not the first unit, and for a word that begins with
/// several capitals and a lower-case letter.
bool isMixedCase(View word) {
  const size_t capitals = endOf(word, 0, isUpper);
  if (capitals > 1 && capitals < word.size() && isLower(word[capitals])) return true;
  if (isNumeral(word[0])) return false;
  for (size_t i = 2; i < word.size(); i++) {
    if (isUpper(word[i]) && !isUpper(word[i - 1])) return true;
  }
  return false;
}

/// Whether a word consists of letters and then digits.
bool isNumbered(View word) {
  const size_t letters = endOf(word, 0, [](char16_t unit) { return isUpper(unit) || isLower(unit); });
  return letters > 0 && letters < word.size() && endOf(word, letters, isNumeral) == word.size();
}

/// The words in ASCII that meet a condition.
template <typename Meets>
std::vector<View> wordsIn(View text, const Meets& meets) {
  std::vector<View> words;
  for (size_t at = 0; at < text.size(); at++) {
    const size_t end = endOf(text, at, isWordUnit);
    const View word = text.substr(at, end - at);
    if (!word.empty() && meets(word)) words.push_back(word);
    at = end;
  }
  return words;
}

/// The end of the subword that starts at a position. The last of several capitals belongs to the letters after it.
size_t subwordEnd(View identifier, size_t start) {
  if (isNumeral(identifier[start])) return endOf(identifier, start, isNumeral);
  const size_t capitals = endOf(identifier, start, isUpper);
  const bool isFollowed = capitals < identifier.size() && isLower(identifier[capitals]);
  if (capitals > start + 1) return isFollowed ? capitals - 1 : capitals;
  return endOf(identifier, capitals, isLower);
}

}  // namespace

std::vector<View> identifiersIn(View text) { return wordsIn(text, isMixedCase); }

std::vector<View> compoundsIn(View text) {
  return wordsIn(text, [](View word) { return isMixedCase(word) || isNumbered(word); });
}

std::vector<View> subwordsOf(View identifier) {
  std::vector<View> subwords;
  for (size_t at = 0; at < identifier.size();) {
    const size_t end = isWordUnit(identifier[at]) ? subwordEnd(identifier, at) : at + 1;
    if (isWordUnit(identifier[at])) subwords.push_back(identifier.substr(at, end - at));
    at = end;
  }
  return subwords;
}

}  // namespace tessera
