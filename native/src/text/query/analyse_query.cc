#include "text/query/analyse_query.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "text/analysis/function_words.hpp"
#include "text/analysis/identifiers.hpp"
#include "text/analysis/surface_form.hpp"
#include "text/analysis/tokenizer.hpp"
#include "text/analysis/unicode.hpp"
#include "text/query/spellings.hpp"

namespace tessera {

namespace {

using View = std::u16string_view;

/// Shorter words match exactly only.
constexpr size_t MIN_FUZZY_LETTERS = 4;
/// A query names few things. Looking for words that are written apart reads whole texts.
constexpr size_t MAX_CUT_WORDS = 16;

/// Digits do not count, because a number with a wrong digit is another number, not a typo.
size_t countLetters(View word) {
  size_t letters = 0;
  for (size_t at = 0; at < word.size();) {
    const char32_t own = codePointAt(word, at);
    letters += propertiesOf(own).category == LETTER_CATEGORY;
    at += unitsIn(own);
  }
  return letters;
}

/// The tokens of a query in its order, and its signs if it does not have words.
std::vector<QueryToken> queryTokens(View query, const WordBreaks& breaks) {
  const Tokenizer& tokenizer = Tokenizer::instance();
  std::vector<TokenSpan> spans = tokenizer.tokensOf(query);
  if (spans.empty()) spans = tokenizer.spellingsOf(query);
  std::vector<QueryToken> tokens;
  std::optional<UnspacedWords> words;
  View before;
  for (const TokenSpan& span : spans) {
    const View previous = std::exchange(before, span.token);
    if (!isUnspaced(span.token)) {
      tokens.push_back({span});
      continue;
    }
    if (!words) words.emplace(query, breaks());
    const auto lone = words->loneWordAt(span.start);
    if (lone) {
      auto own = tokenizer.tokensOf(*lone);
      if (!own.empty()) tokens.push_back({{span.start, span.end, std::move(own[0].token)}, true, true});
    }
    const bool isCharacter = graphemeEnd(span.token, 0) == span.token.size();
    // The last token of an unspaced run repeats the second character of the pair before it.
    const bool isTail = isUnspaced(previous) && previous.ends_with(span.token);
    if (isCharacter && (lone || isTail)) continue;
    tokens.push_back({span, true, isCharacter, words->isChance(span.start, span.end)});
  }
  return tokens;
}

/// The tokens of the identifiers in mixed case in a query.
std::vector<std::u16string> identifierTokens(View query) {
  std::vector<std::u16string> tokens;
  for (const View identifier : identifiersIn(query)) {
    for (TokenSpan& own : Tokenizer::instance().tokensOf(identifier)) tokens.push_back(std::move(own.token));
  }
  return tokens;
}

AnalysedWord analysedWord(View query, const QueryToken& token, bool mayBeCut) {
  AnalysedWord word{};
  word.text = token.token;
  word.raw = token.token;
  word.isCharacter = token.isCharacter;
  word.mayBeMisspelt = countLetters(word.text) >= MIN_FUZZY_LETTERS;
  word.isChance = token.isChance;
  word.functionalIn = languagesOf(word.text);
  if (token.isUnspaced) return word;
  const View written = query.substr(token.start, token.end - token.start);
  if (written != word.text) word.raw = surfaceForm(written);
  if (word.raw.empty()) word.raw = word.text;
  if (mayBeCut) addCuts(word, written);
  return word;
}

}  // namespace

AnalysedQuery analyseQuery(View query, const WordBreaks& breaks) {
  AnalysedQuery analysed;
  auto& [words, joined] = analysed;
  std::vector<QueryToken> tokens = queryTokens(query, breaks);
  const std::vector<std::u16string> identifiers = identifierTokens(query);
  for (QueryToken& token : tokens) {
    auto word = std::ranges::find(words, token.token, &AnalysedWord::text);
    if (word == words.end()) {
      word = words.insert(word, analysedWord(query, token, words.size() < MAX_CUT_WORDS));
      word->isIdentifier = std::ranges::find(identifiers, word->text) != identifiers.end();
    }
    word->count++;
    word->isChance = word->isChance && token.isChance;
    token.place = static_cast<size_t>(word - words.begin());
  }
  if (!tokens.empty() && !tokens.back().isCharacter) words[tokens.back().place].isPrefix = true;
  joined = joinedSpellings(query, tokens, words);
  return analysed;
}

}  // namespace tessera
