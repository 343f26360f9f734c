// The words of texts and of queries: any code units give tokens within the text, of bounded length.
#include "text/analysis/words.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "check.hpp"
#include "text/analysis/function_words.hpp"
#include "text/analysis/identifiers.hpp"
#include "text/analysis/surface_form.hpp"
#include "text/query/analyse_query.hpp"

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

/// Checks the words of a query, of which the units decide where a dictionary cuts it.
static void checkQuery(std::u16string_view query) {
  const auto breaks = [&] {
    std::vector<tessera::WordBreak> all;
    for (size_t end = 1; end <= query.size(); end++) {
      const char16_t last = query[end - 1];
      if (end == query.size() || (last & 1) != 0) all.push_back({end, (last & 2) != 0});
    }
    return all;
  };
  const auto [words, joined] = tessera::analyseQuery(query, breaks);
  for (const auto& word : words) {
    CHECK(!word.text.empty() && word.text.size() <= tessera::MAX_WORD_CHARS);
    CHECK(!word.raw.empty() && word.count > 0);
    const uint64_t cuts = uint64_t{word.pairs} | word.englishPairs | word.parts;
    CHECK(cuts >> std::min<size_t>(word.text.size(), 32) == 0 && (cuts & 1) == 0);
  }
  for (const auto& [first, last, text] : joined) CHECK(first <= last && last < words.size() && !text.empty());
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
  checkQuery(text);
  tessera::hasStemmedLetter(text);
  const std::u16string simplified = tessera::simplifiedOf(text);
  CHECK(tessera::simplifiedOf(simplified).size() <= 2 * simplified.size());
  return 0;
}
