#include "text/analysis/surface_form.hpp"

#include "common/limits.hpp"
#include "text/analysis/unicode.hpp"

namespace tessera {

namespace {

constexpr char16_t CAPITAL_SIGMA = u'Σ', FINAL_SIGMA = u'ς';

/// True for a capital sigma that a cased letter precedes, and none follows.
bool endsWord(std::u16string_view text, size_t sigma) {
  size_t at = sigma;
  while (at > 0 && propertiesOf(codePointBefore(text, at)).has(CASE_IGNORABLE)) {
    at -= unitsIn(codePointBefore(text, at));
  }
  if (at == 0 || !propertiesOf(codePointBefore(text, at)).has(CASED)) return false;
  at = sigma + 1;
  while (at < text.size() && propertiesOf(codePointAt(text, at)).has(CASE_IGNORABLE)) {
    at += unitsIn(codePointAt(text, at));
  }
  return at == text.size() || !propertiesOf(codePointAt(text, at)).has(CASED);
}

}  // namespace

std::u16string lowerCase(std::u16string_view text) {
  std::u16string lower;
  for (size_t at = 0; at < text.size();) {
    const char32_t own = codePointAt(text, at);
    if (own == CAPITAL_SIGMA && endsWord(text, at)) {
      lower += FINAL_SIGMA;
    } else if (propertiesOf(own).has(HAS_LOWER)) {
      for (const char32_t other : lowerCaseOf(own)) append(lower, other);
    } else {
      append(lower, own);
    }
    at += unitsIn(own);
  }
  return lower;
}

std::u16string surfaceForm(std::u16string_view word) {
  std::u16string visible;
  for (size_t at = 0; at < word.size();) {
    const char32_t own = codePointAt(word, at);
    if (!propertiesOf(own).has(INVISIBLE)) append(visible, own);
    at += unitsIn(own);
  }
  std::u16string form = composed(lowerCase(visible), false);
  if (form.size() > MAX_WORD_CHARS) form.clear();
  return form;
}

bool hasStemmedLetter(std::u16string_view text) {
  for (size_t at = 0; at < text.size();) {
    const char32_t own = codePointAt(text, at);
    if (propertiesOf(own).script != UNSTEMMED) return true;
    at += unitsIn(own);
  }
  return false;
}

}  // namespace tessera
