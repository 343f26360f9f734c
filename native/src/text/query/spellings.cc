#include "text/query/spellings.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "text/analysis/function_words.hpp"
#include "text/analysis/identifiers.hpp"
#include "text/analysis/unicode.hpp"
#include "text/page/markdown_units.hpp"

namespace tessera {

namespace {

/// The last unit that a cut may follow: cuts are bits of a 32-bit number.
constexpr size_t MAX_CUT_CHARS = 31;
constexpr size_t MIN_PAIR_CHARS = 3;
constexpr size_t MIN_NEIGHBOUR_CHARS = 4;
/// An ending in English: `user's` is another form of `user`.
constexpr Units POSSESSIVE = u"s";
/// Signs between the parts of a word.
constexpr Units LINKS = u"-‐‑_./·'’‘ʹʺʻʼʽʾʿꞋꞌ&";
/// Function words that end other words: login, setup, readonly.
constexpr std::array<Units, 13> PARTICLES = {u"all", u"by",   u"down", u"in",      u"off",   u"on", u"once",
                                             u"only", u"out", u"over", u"through", u"under", u"up"};

/// The language with this code, as a bit of `languagesOf`.
uint32_t bitOf(std::string_view code) {
  const auto lists = functionWordLists();
  return uint32_t{1} << (std::ranges::find(lists, code, &FunctionWordList::code) - lists.begin());
}
const uint32_t ENGLISH_WORDS = bitOf("en");
const uint32_t FRENCH_WORDS = bitOf("fr");

bool isLetterOrMark(char32_t own) {
  const uint8_t category = propertiesOf(own).category;
  return category == LETTER_CATEGORY || category == MARK_CATEGORY;
}
bool isOfWord(char32_t own) { return propertiesOf(own).category != OTHER_CATEGORY; }

/// True if texts may write two words as one. A function word stays apart: `the rapist` is not
/// `therapist`, and `now here` is not `nowhere`. The same holds for parts of words that French and English write with an
/// apostrophe.
bool isPair(Units first, Units second) {
  const uint32_t own = languagesOf(first);
  const uint32_t fronts = first.size() == 1 ? ENGLISH_WORDS | FRENCH_WORDS : ENGLISH_WORDS;
  if ((own & fronts) != 0 || second == POSSESSIVE) return false;
  const uint32_t other = languagesOf(second);
  const bool isParticle = std::ranges::find(PARTICLES, second) != PARTICLES.end();
  return (own & other) == 0 && ((other & ENGLISH_WORDS) == 0 || isParticle);
}

/// Digits on both sides: `1.5` is another number than `15`.
bool areNumber(Units before, Units after) { return isDigit(before.back()) && isDigit(after.front()); }

/// `ueber` for `über`, and the other way round; "" for a word without an umlaut. Stemmers do not read an umlaut at the
/// beginning of a word as two letters.
std::u16string umlautOf(Units written, Units text) {
  std::u16string other(text);
  if (Units(u"äöüÄÖÜ").find(unitAt(composed(written, false), 0)) != Units::npos) return other.insert(1, 1, u'e');
  const bool isTwoLetters = Units(u"aou").find(text.front()) != Units::npos && unitAt(text, 1) == u'e';
  return isTwoLetters ? other.erase(1, 1) : std::u16string();
}

using TokenRun = std::span<const QueryToken>;

/// Collects the joined spellings of a query.
class Joining {
 public:
  explicit Joining(std::span<const AnalysedWord> words) : words_(words) {}

  /// Adds a spelling of successive words, unless it is a word of the query.
  void add(TokenRun run, std::u16string text) {
    const auto areApart = [](const QueryToken& before, const QueryToken& own) { return own.place != before.place + 1; };
    if (std::ranges::adjacent_find(run, areApart) != run.end()) return;
    if (std::ranges::find(words_, text, &AnalysedWord::text) != words_.end()) return;
    if (std::ranges::find(spellings_, text, &JoinedSpelling::text) != spellings_.end()) return;
    spellings_.push_back({run.front().place, run.back().place, std::move(text)});
  }

  /// Adds words as one, unless the result is a function word: `in` and `to` are not `into`.
  void addRun(TokenRun run) {
    std::u16string text;
    for (const QueryToken& own : run) text += own.token;
    if ((languagesOf(text) & ENGLISH_WORDS) == 0) add(run, std::move(text));
  }

  /// Adds a chain of words that signs link, and the pairs of words in it.
  void addChain(TokenRun chain) {
    if (chain.size() > 2) addRun(chain);
    for (size_t i = 1; i < chain.size(); i++) {
      const bool hasLetter = chain[i - 1].token.size() == 1 || chain[i].token.size() == 1;
      if (chain.size() == 2 || !hasLetter) addRun(chain.subspan(i - 1, 2));
    }
  }

  std::vector<JoinedSpelling> take() { return std::move(spellings_); }

 private:
  const std::span<const AnalysedWord> words_;
  std::vector<JoinedSpelling> spellings_;
};

/// True if two words with a link between them are parts of one.
bool areLinked(Units before, Units after, Units link) {
  return link.size() == 1 && LINKS.find(link[0]) != Units::npos && !areNumber(before, after) && after != POSSESSIVE;
}

/// True if two words with white space between them can be one.
bool areNeighbours(Units before, Units after, Units between) {
  if (!trimmed(between).empty() || areNumber(before, after)) return false;
  const bool isLong = before.size() + after.size() >= MIN_NEIGHBOUR_CHARS;
  return (isLong || isDigit(before.back())) && isPair(before, after);
}

}  // namespace

void addCuts(AnalysedWord& word, Units written) {
  const Units text = word.text;
  if (text.size() > MAX_CUT_CHARS + 1) return;
  if (text.size() >= MIN_PAIR_CHARS && consistsOf(text, isLetterOrMark)) {
    for (size_t at = 1; at < text.size(); at++) {
      const Units first = text.substr(0, at);
      if (!isPair(first, text.substr(at))) continue;
      (languagesOf(first) == 0 ? word.pairs : word.englishPairs) |= uint32_t{1} << at;
    }
  }
  if (std::ranges::all_of(written, [](char16_t unit) { return isLetter(unit) || isDigit(unit); })) {
    size_t at = 0;
    for (const Units part : subwordsOf(written)) {
      if (at > 0) word.parts |= uint32_t{1} << at;
      at += part.size();
    }
    return;
  }
  // A name in other letters shows its parts by numbers alone.
  for (size_t at = 1; at < text.size(); at++) {
    if (isDigit(text[at - 1]) != isDigit(text[at])) word.parts |= uint32_t{1} << at;
  }
}

std::vector<JoinedSpelling> joinedSpellings(Units query, TokenRun tokens, std::span<const AnalysedWord> words) {
  Joining joining(words);
  std::vector<QueryToken> plain;
  std::ranges::copy_if(tokens, std::back_inserter(plain), [](const QueryToken& own) {
    return !own.isUnspaced && consistsOf(own.token, isOfWord);
  });
  size_t chain = 0;
  const auto addChainUpTo = [&](size_t end) { joining.addChain(TokenRun(plain).subspan(chain, end - chain)); };
  for (size_t i = 0; i < plain.size(); i++) {
    const auto& [start, end, token] = static_cast<const TokenSpan&>(plain[i]);
    if (i > 0) {
      const TokenSpan& before = plain[i - 1];
      const Units link = query.substr(before.end, std::max(start, before.end) - before.end);
      if (!areLinked(before.token, token, link)) {
        addChainUpTo(i);
        chain = i;
        if (areNeighbours(before.token, token, link)) joining.addRun(TokenRun(plain).subspan(i - 1, 2));
      }
    }
    std::u16string other = umlautOf(query.substr(start, end - start), token);
    if (!other.empty()) joining.add(TokenRun(plain).subspan(i, 1), std::move(other));
  }
  addChainUpTo(plain.size());
  for (TokenSpan& own : Tokenizer::instance().spellingsOf(query)) {
    const auto first = std::ranges::lower_bound(plain, own.start, {}, &QueryToken::start);
    const auto last = std::ranges::upper_bound(first, plain.end(), own.end, {}, &QueryToken::end);
    if (first != last) joining.add({first, last}, std::move(own.token));
  }
  return joining.take();
}

}  // namespace tessera
