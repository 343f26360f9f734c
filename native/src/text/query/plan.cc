#include "text/query/plan.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>

#include "text/query/plan_word.hpp"
#include "text/segment/weights.hpp"

namespace tessera {

namespace {

/// A word of the query that documents in scope hold.
struct KnownWord {
  const AnalysedWord* word;
  std::shared_ptr<const PlannedWord> planned;
  /// How much it counts, as a part of a compound.
  double share = 1;
};

/// The language of the query, as a bit: the one that has most of the words among its function words, because a
/// function word of one language can be a subject in another (English `die`, German `die`). If several have,
/// the text decides: the one whose function words more documents hold. 0 if there are no function words.
uint32_t languageOf(std::span<const AnalysedWord> words, std::span<const KnownWord> found) {
  uint32_t best = 0;
  size_t most = 0, mostHeld = 0;
  uint32_t all = 0;
  for (const AnalysedWord& word : words) all |= word.functionalIn;
  for (uint32_t language = 1; language != 0 && language <= all; language <<= 1) {
    size_t count = 0, held = 0;
    for (const AnalysedWord& word : words) count += (word.functionalIn & language) != 0;
    if (count < std::max<size_t>(most, 1)) continue;
    for (const KnownWord& each : found) {
      if ((each.word->functionalIn & language) != 0) held += each.planned->frequency;
    }
    if (count == most && held <= mostHeld) continue;
    best = language;
    most = count;
    mostHeld = held;
  }
  return best;
}

/// Whether a word says how a question is put, not what it is about. A short query tells its language by two
/// function words, or by one that is common in the text: `die` of `die casting` is none in English text.
class FunctionWords {
 public:
  FunctionWords(std::span<const AnalysedWord> words, std::span<const KnownWord> found, size_t documents)
      : language_(languageOf(words, found)) {
    const auto isOne = [&](const AnalysedWord& word) { return (word.functionalIn & language_) != 0; };
    const bool isCertain = words.size() > LONG_QUERY_WORDS || std::ranges::count_if(words, isOne) > 1;
    if (!isCertain) leastFrequency_ = FUNCTION_WORD_MIN_SHARE * static_cast<double>(documents);
  }

  bool has(const KnownWord& found) const {
    if (found.word->isChance) return true;
    return (found.word->functionalIn & language_) != 0 &&
           static_cast<double>(found.planned->frequency) >= leastFrequency_;
  }

 private:
  const uint32_t language_;
  double leastFrequency_ = 0;
};

/// The weight of a word. Function words hardly count. In a long query, a rare identifier counts more than the
/// words around it: a person who writes `getStaticProps` means exactly that.
double shareOf(const KnownWord& found, bool isFunctional, bool isLong, size_t documents) {
  const double rare = std::max(1.0, static_cast<double>(documents) * IDENTIFIER_MAX_SHARE);
  const bool isRare = static_cast<double>(found.planned->frequency) <= rare;
  if (isLong && found.word->isIdentifier && isRare) return IDENTIFIER_SHARE;
  return isFunctional ? FUNCTION_WORD_SHARE : 1;
}

/// Limits a query to its weightiest words, in the order of the query.
void keepWeightiest(std::vector<QueryWord>& words) {
  if (words.size() <= QUERY_MAX_WORDS) return;
  std::vector<double> weights;
  for (const QueryWord& word : words) weights.push_back(word.weight);
  std::ranges::sort(weights, std::greater<>{});
  const double limit = weights[QUERY_MAX_WORDS - 1];
  std::erase_if(words, [&](const QueryWord& word) { return word.weight < limit; });
  words.resize(QUERY_MAX_WORDS);
}

/// Adds the parts of a compound behind it, unless they are words of the query. @param parts keeps them
void addParts(TextView& view, std::span<const AnalysedWord> words, const AnalysedWord& compound,
              const PlannedWord& planned, std::deque<AnalysedWord>& parts, std::vector<KnownWord>& found) {
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

/// What a word would weigh that nothing in scope holds: as a very rare one, and little if it may be a function word.
double missingWeight(const AnalysedWord& word, size_t documents) {
  const bool mayBeFunctional = word.functionalIn != 0 || word.isChance;
  return word.count * (mayBeFunctional ? FUNCTION_WORD_SHARE : 1) * idfOf(documents, 0);
}

/// @param missing gets what the other words would weigh
std::vector<KnownWord> knownWordsOf(TextView& view, std::span<const AnalysedWord> words,
                                    std::deque<AnalysedWord>& parts, double& missing) {
  std::vector<KnownWord> found;
  for (const AnalysedWord& word : words) {
    const size_t before = found.size();
    auto planned = view.planned(word);
    if (planned->frequency > 0) found.push_back({&word, planned});
    addParts(view, words, word, *planned, parts, found);
    if (found.size() == before) missing += missingWeight(word, view.documents());
  }
  return found;
}

}  // namespace

TextQuery planQuery(TextView& view, std::span<const AnalysedWord> words, TextShard shard) {
  TextQuery query{{}, 0, 0, view.averageLength(), shard, 0};
  std::deque<AnalysedWord> parts;
  std::vector<KnownWord> found = knownWordsOf(view, words, parts, query.missingScore);
  const FunctionWords functionWords(words, found, view.documents());
  const auto isFunctional = [&](const KnownWord& each) { return functionWords.has(each); };
  // A query of function words alone finds what it says.
  const bool hasContent = !std::ranges::all_of(found, isFunctional);
  for (KnownWord& each : found) {
    const bool ignored = hasContent && isFunctional(each);
    const double factor =
        each.word->count * each.share *
        shareOf(each, ignored, words.size() > LONG_QUERY_WORDS, view.documents());
    const PlannedWord& planned = *each.planned;
    // What a word and a particle have in common makes no phrase, either.
    const bool isNoPhrase = ignored && each.word->isChance && !each.word->isJoint;
    const double idf = planned.weight * (isNoPhrase ? FUNCTION_WORD_SHARE : 1);
    query.words.push_back({std::move(each.planned), !ignored, idf, planned.weight * factor,
                           planned.formWeight * factor, planned.exactWeight * factor,
                           planned.otherWeight * factor});
  }
  keepWeightiest(query.words);
  for (const QueryWord& word : query.words) query.maxScore += word.weight;
  return query;
}

}  // namespace tessera
