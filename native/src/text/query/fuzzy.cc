#include "text/query/fuzzy.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "text/segment/dictionary.hpp"
#include "text/segment/weights.hpp"

namespace tessera {

/// True when the words differ by exactly one typo.
static bool isOneTypo(std::u16string_view term, std::u16string_view word) {
  const size_t shorter = std::min(term.size(), word.size());
  const size_t longer = std::max(term.size(), word.size());
  if (longer - shorter > 1) return false;
  size_t head = 0;
  while (head < shorter && term[head] == word[head]) head++;
  size_t tail = 0;
  while (tail < shorter - head && term[term.size() - 1 - tail] == word[word.size() - 1 - tail]) tail++;
  const size_t differing = shorter - head - tail;
  if (longer != shorter) return differing == 0;
  if (differing == 1) return true;
  return differing == 2 && term[head] == word[head + 1] && term[head + 1] == word[head];
}

/// One typo leaves at least one half of the word intact, so the candidates are the terms with the same
/// first or second half, which are ranges of the sorted dictionaries. Only the swap across the middle
/// changes both halves.
static std::set<uint32_t> termsAtOneTypo(const TextSegment& segment, std::u16string_view word) {
  const size_t middle = word.size() / 2;
  std::set<uint32_t> found;
  const auto consider = [&](uint32_t term) {
    if (isOneTypo(segment.term(term), word)) found.insert(term);
  };
  const Range forward = termsFrom(segment, word.substr(0, middle));
  for (uint32_t term = forward.from; term < forward.to; term++) consider(term);
  const Range backward = termsTo(segment, word.substr(middle));
  for (uint32_t at = backward.from; at < backward.to; at++) consider(segment.reversed[at]);
  std::u16string swapped(word);
  std::swap(swapped[middle - 1], swapped[middle]);
  if (const auto term = findTerm(segment, swapped)) consider(*term);
  return found;
}

std::vector<std::u16string> wordsAtOneTypo(const TextView& view, std::u16string_view word, size_t least) {
  std::map<std::u16string_view, size_t> frequencies;
  for (size_t s = 0; s < view.segments().size(); s++) {
    const TextSegment& segment = view.segments()[s];
    for (const uint32_t term : termsAtOneTypo(segment, word)) {
      const size_t frequency = view.frequencyOf(s, {term, term + 1});
      if (frequency > 0) frequencies[segment.term(term)] += frequency;
    }
  }
  std::vector<std::pair<std::u16string_view, size_t>> found(frequencies.begin(), frequencies.end());
  // The map is in the order of code units, which a stable sort keeps.
  std::ranges::stable_sort(found, [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::u16string> words;
  for (const auto& each : found) {
    if (words.size() == FUZZY_MAX_WORDS || each.second < least) break;
    words.emplace_back(each.first);
  }
  return words;
}

}  // namespace tessera
