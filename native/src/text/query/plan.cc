#include "text/query/plan.hpp"

#include <algorithm>
#include <functional>

#include "text/segment/weights.hpp"

namespace tessera {

/// What a word counts. In a long query, function words hardly count, and a rare identifier counts more
/// than the words around it: who writes `getStaticProps` means exactly that.
static double shareOf(const AnalysedWord& word, const PlannedWord& planned, bool isLong,
                      size_t documents) {
  if (!isLong) return 1;
  const double rare = std::max(1.0, static_cast<double>(documents) * IDENTIFIER_MAX_SHARE);
  if (word.isIdentifier && static_cast<double>(planned.frequency) <= rare) return IDENTIFIER_SHARE;
  return word.isFunctional ? FUNCTION_WORD_SHARE : 1;
}

/// Limits a long query to its weightiest words, in the order of the query.
static void keepWeightiest(std::vector<QueryWord>& words) {
  if (words.size() <= QUERY_MAX_WORDS) return;
  std::vector<double> weights;
  for (const QueryWord& word : words) weights.push_back(word.weight);
  std::ranges::sort(weights, std::greater<>{});
  const double limit = weights[QUERY_MAX_WORDS - 1];
  std::erase_if(words, [&](const QueryWord& word) { return word.weight < limit; });
  words.resize(QUERY_MAX_WORDS);
}

/// In a long query, function words do not make a document a match, unless all words are function words.
static void markSelective(std::vector<QueryWord>& words) {
  if (words.size() <= LONG_QUERY_WORDS) return;
  if (std::ranges::all_of(words, &QueryWord::isFunctional)) return;
  for (QueryWord& word : words) word.selective = !word.isFunctional;
}

TextQuery planQuery(TextView& view, std::span<const AnalysedWord> words, TextShard shard) {
  TextQuery query{{}, 0, view.averageLength(), shard, 0};
  const bool isLong = words.size() > LONG_QUERY_WORDS;
  for (const AnalysedWord& word : words) {
    auto planned = view.planned(word);
    if (planned->frequency == 0) continue;
    const double factor = shareOf(word, *planned, isLong, view.documents()) * word.count;
    QueryWord weighed{};
    weighed.selective = true;
    weighed.isFunctional = word.isFunctional;
    weighed.idf = planned->weight;
    weighed.weight = planned->weight * factor;
    weighed.formWeight = planned->formWeight * factor;
    weighed.exactWeight = planned->exactWeight * factor;
    weighed.otherWeight = planned->otherWeight * factor;
    weighed.planned = std::move(planned);
    query.words.push_back(std::move(weighed));
  }
  keepWeightiest(query.words);
  markSelective(query.words);
  for (const QueryWord& word : query.words) query.maxScore += word.weight;
  return query;
}

}  // namespace tessera
