// The words of texts: any code units give tokens within the text, of bounded length.
#include "text/analysis/words.hpp"

#include <cstring>
#include <vector>

#include "check.hpp"
#include "text/analysis/function_words.hpp"
#include "text/analysis/identifiers.hpp"
#include "text/analysis/surface_form.hpp"

using tessera::TokenSpan;

static void checkSpans(const std::vector<TokenSpan>& spans, size_t length) {
  for (const auto& [start, end, token] : spans) {
    CHECK(start < end && end <= length);
    CHECK(!token.empty() && token.size() <= tessera::MAX_WORD_CHARS);
    CHECK(token.find(u' ') == std::u16string::npos);
    tessera::languageBits(token);
    tessera::isUnspaced(token);
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // A copy of exactly this size, so that reading beyond its end is noticed.
  std::vector<char16_t> units(size / sizeof(char16_t));
  if (!units.empty()) std::memcpy(units.data(), data, units.size() * sizeof(char16_t));
  const std::u16string_view text(units.data(), units.size());
  const tessera::Tokenizer& tokenizer = tessera::Tokenizer::instance();
  const auto tokens = tokenizer.tokensOf(text);
  checkSpans(tokens, text.size());
  checkSpans(tokenizer.spellingsOf(text), text.size());
  for (const TokenSpan& own : tokens) {
    // Tokens start and end with characters.
    CHECK(tokenizer.characterStart(text, own.start) <= own.start);
    const std::u16string form = tessera::surfaceForm(text.substr(own.start, own.end - own.start));
    CHECK(form.size() <= tessera::MAX_WORD_CHARS);
  }
  for (const auto identifier : tessera::identifiersIn(text)) CHECK(!tessera::subwordsOf(identifier).empty());
  CHECK(tessera::compoundsIn(text).size() >= tessera::identifiersIn(text).size());
  tessera::hasStemmedLetter(text);
  const std::u16string simplified = tessera::simplifiedOf(text);
  CHECK(tessera::simplifiedOf(simplified).size() <= 2 * simplified.size());
  return 0;
}
