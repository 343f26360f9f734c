#include "text/query/plan.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <span>

#include "text/query/plan_word.hpp"
#include "text/query/stem_forms.hpp"
#include "text/segment/weights.hpp"

namespace tessera {

namespace {

constexpr size_t NO_PLACE = SIZE_MAX;

/// A word of the query, or a part of a compound there.
struct PlacedWord {
  const AnalysedWord* word;
  /// Null for a word that no document in scope holds.
  std::shared_ptr<const PlannedWord> planned;
  /// How much it counts, as a part of a compound.
  double share = 1;
  /// The place in the query; `NO_PLACE` for a part of a compound.
  size_t place = NO_PLACE;

  size_t frequency() const { return planned ? planned->frequency : 0; }
};

/// The language of the query, as a bit: the one that has most of the words among its function words, because a
/// function word of one language can be a subject in another (English `die`, German `die`). If several have,
/// the text decides: the one whose function words more documents hold. 0 if there are no function words.
uint32_t languageOf(std::span<const AnalysedWord> words, std::span<const PlacedWord> found) {
  uint32_t best = 0;
  size_t most = 0, mostHeld = 0;
  uint32_t all = 0;
  for (const AnalysedWord& word : words) all |= word.functionalIn;
  for (uint32_t language = 1; language != 0 && language <= all; language <<= 1) {
    size_t count = 0, held = 0;
    for (const AnalysedWord& word : words) count += (word.functionalIn & language) != 0;
    if (count < std::max<size_t>(most, 1)) continue;
    for (const PlacedWord& each : found) {
      if ((each.word->functionalIn & language) != 0) held += each.frequency();
    }
    if (count == most && held <= mostHeld) continue;
    best = language;
    most = count;
    mostHeld = held;
  }
  return best;
}

/// Recognises the function words of a query. The language of a short query is certain with two function words,
/// or with one that is common in the text: `die` in `die casting` is not a function word of English text.
class FunctionWords {
 public:
  FunctionWords(std::span<const AnalysedWord> words, std::span<const PlacedWord> found, size_t documents)
      : language_(languageOf(words, found)) {
    const auto isOne = [&](const AnalysedWord& word) { return (word.functionalIn & language_) != 0; };
    const bool isCertain = words.size() > LONG_QUERY_WORDS || std::ranges::count_if(words, isOne) > 1;
    if (!isCertain) leastFrequency_ = FUNCTION_WORD_MIN_SHARE * static_cast<double>(documents);
  }

  bool has(const PlacedWord& found) const {
    if (found.word->isChance) return true;
    return (found.word->functionalIn & language_) != 0 &&
           static_cast<double>(found.frequency()) >= leastFrequency_;
  }

 private:
  const uint32_t language_;
  double leastFrequency_ = 0;
};

/// The weight of a word. Function words hardly count. In a long query, a rare identifier counts more than the
/// words around it, because a user who writes `getStaticProps` means exactly that name.
double shareOf(const PlacedWord& found, bool isFunctional, bool isLong, size_t documents) {
  const double rare = std::max(1.0, static_cast<double>(documents) * IDENTIFIER_MAX_SHARE);
  const bool isRare = static_cast<double>(found.frequency()) <= rare;
  if (isLong && found.word->isIdentifier && isRare) return IDENTIFIER_SHARE;
  return isFunctional ? FUNCTION_WORD_SHARE : 1;
}

/// Limits a query to its weightiest words, in the order of the query. They are too many to be joined.
void keepWeightiest(TextQuery& query) {
  std::vector<QueryWord>& words = query.words;
  if (words.size() <= QUERY_MAX_WORDS) return;
  query.joined.clear();
  std::vector<double> weights;
  for (const QueryWord& word : words) weights.push_back(word.weight);
  std::ranges::sort(weights, std::greater<>{});
  const double limit = weights[QUERY_MAX_WORDS - 1];
  std::erase_if(words, [&](const QueryWord& word) { return word.weight < limit; });
  words.resize(QUERY_MAX_WORDS);
}

/// Adds the parts of a compound after it, unless they are words of the query. @param parts owner of the added parts
void addParts(TextView& view, std::span<const AnalysedWord> words, const AnalysedWord& compound,
              const PlannedWord& planned, std::deque<AnalysedWord>& parts, std::vector<PlacedWord>& found) {
  for (const std::u16string& text : planned.parts) {
    const auto isIn = [&](const auto& list) { return std::ranges::find(list, text, &AnalysedWord::text) != list.end(); };
    if (isIn(words) || isIn(parts)) continue;
    AnalysedWord part{};
    part.text = text;
    part.raw = text;
    part.count = compound.count;
    auto own = view.planned(part);
    if (own->frequency == 0) continue;
    parts.push_back(std::move(part));
    found.push_back({&parts.back(), std::move(own), planned.isHeld ? COMPOUND_PART_SHARE : 1});
  }
}

/// The weight of a word without a document in scope: that of a very rare word, or little if it may be a function word.
double missingWeight(const AnalysedWord& word, size_t documents) {
  const bool mayBeFunctional = word.functionalIn != 0 || word.isChance;
  return word.count * (mayBeFunctional ? FUNCTION_WORD_SHARE : 1) * idfOf(documents, 0);
}

/// Words of the query that documents in scope write as one: their places, and the terms by segment.
std::vector<JoinedWords> joinedWordsOf(const TextView& view, std::span<const JoinedSpelling> spellings) {
  std::vector<JoinedWords> joined;
  for (const JoinedSpelling& spelling : spellings) {
    JoinedWords own{{}, formsOf(view, spelling.text, spelling.text)};
    bool isHeld = false;
    for (size_t s = 0; s < own.terms.size(); s++) {
      std::erase_if(own.terms[s], [&](uint32_t term) { return view.frequencyOf(s, {term, term + 1}) == 0; });
      isHeld = isHeld || !own.terms[s].empty();
    }
    if (!isHeld) continue;
    for (size_t place = spelling.first; place <= spelling.last; place++) own.words.push_back(place);
    joined.push_back(std::move(own));
  }
  return joined;
}

/// The plan of a word, including the spellings that join it with others.
std::shared_ptr<const PlannedWord> plannedWord(TextView& view, const AnalysedWord& word, size_t place,
                                               std::span<const JoinedWords> joined) {
  auto planned = view.planned(word);
  for (const JoinedWords& own : joined) {
    if (std::ranges::find(own.words, place) == own.words.end()) continue;
    planned = std::make_shared<const PlannedWord>(withJoined(view, *planned, own.terms));
  }
  return planned;
}

/// The words of the query in its order, each before its parts. @param parts owner of the parts
std::vector<PlacedWord> placedWordsOf(TextView& view, std::span<const AnalysedWord> words,
                                      std::span<const JoinedWords> joined, std::deque<AnalysedWord>& parts) {
  std::vector<PlacedWord> placed;
  for (size_t place = 0; place < words.size(); place++) {
    const AnalysedWord& word = words[place];
    const size_t before = placed.size();
    auto planned = plannedWord(view, word, place, joined);
    if (planned->frequency > 0) placed.push_back({&word, planned, 1, place});
    addParts(view, words, word, *planned, parts, placed);
    if (placed.size() == before) placed.push_back({&word, nullptr});
  }
  return placed;
}

/// Pairs each selective word with the selective word before it. Function words are not in pairs. A pair with a word
/// without documents cannot match, but its weight makes the other pairs a smaller part of the query.
class Pairing {
 public:
  explicit Pairing(size_t documents) : missingIdf_(idfOf(documents, 0)) {}

  /// Adds a word that is not selective.
  void skip() { gap_++; }

  /// Adds a word that no document holds.
  void addMissing() {
    total_ += std::min(idf_, missingIdf_);
    idf_ = missingIdf_;
    isHeld_ = false;
  }

  /// Adds a selective word. Sets its pair.
  void add(QueryWord& word, double idf) {
    const double weight = std::min(idf_, idf);
    total_ += weight;
    word.pairWeight = isHeld_ ? weight : 0;
    word.gap = gap_;
    gap_ = 0;
    idf_ = idf;
    isHeld_ = true;
  }

  double total() const { return total_; }

 private:
  const double missingIdf_;
  /// Inverse document frequency of the selective word before; 0 before the first one.
  double idf_ = 0;
  bool isHeld_ = false;
  /// The words since then.
  size_t gap_ = 0;
  double total_ = 0;
};

}  // namespace

TextQuery planQuery(TextView& view, const AnalysedQuery& analysed, TextShard shard) {
  const auto& [words, joined] = analysed;
  TextQuery query{{}, joinedWordsOf(view, joined), 0, 0, 0, view.averageLength(), shard, 0};
  std::deque<AnalysedWord> parts;
  const std::vector<PlacedWord> placed = placedWordsOf(view, words, query.joined, parts);
  std::vector<size_t> positions(words.size(), 0);
  const FunctionWords functionWords(words, placed, view.documents());
  // In a query of function words alone, the function words are selective.
  const bool hasContent = !std::ranges::all_of(
      placed, [&](const PlacedWord& each) { return !each.planned || functionWords.has(each); });
  Pairing pairing(view.documents());
  for (const PlacedWord& each : placed) {
    const bool ignored = hasContent && functionWords.has(each);
    if (!each.planned) {
      query.missingScore += missingWeight(*each.word, view.documents());
      if (each.word->functionalIn == 0 && !each.word->isChance) pairing.addMissing();
      continue;
    }
    const double factor =
        each.word->count * each.share *
        shareOf(each, ignored, words.size() > LONG_QUERY_WORDS, view.documents());
    const PlannedWord& planned = *each.planned;
    if (each.place != NO_PLACE) positions[each.place] = query.words.size();
    query.words.push_back({each.planned, !ignored, 0, 0, planned.weight * factor, planned.formWeight * factor,
                           planned.exactWeight * factor, planned.otherWeight * factor});
    if (ignored) {
      pairing.skip();
    } else {
      pairing.add(query.words.back(), planned.weight);
    }
  }
  query.pairWeight = pairing.total();
  for (JoinedWords& own : query.joined) {
    for (size_t& word : own.words) word = positions[word];
  }
  keepWeightiest(query);
  for (const QueryWord& word : query.words) query.maxScore += word.weight;
  return query;
}

}  // namespace tessera
