#include "text/segment/dictionary.hpp"

#include <algorithm>
#include <unordered_map>

#include "text/segment/stem.hpp"

namespace tessera {

/// Fewer letters would be shared by too many words.
static constexpr size_t STEM_SHARED_MIN_CHARS = 2;
/// A word is at most so much longer than its stem.
static constexpr size_t STEM_SUFFIX_MAX_CHARS = 8;

/// The first position below `count` that meets a condition which all later ones meet as well.
template <typename Meets>
static uint32_t bisect(uint32_t count, const Meets& meets) {
  uint32_t low = 0, high = count;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (meets(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

/// Negative: the term sorts before the prefix; 0: it starts with it; positive: it sorts after it.
static int comparePrefix(std::u16string_view term, std::u16string_view prefix) {
  return term.substr(0, prefix.size()).compare(prefix);
}

/// Like `comparePrefix`, from the end.
static int compareSuffix(std::u16string_view term, std::u16string_view suffix) {
  const size_t shared = std::min(term.size(), suffix.size());
  for (size_t i = 1; i <= shared; i++) {
    const int difference = int{term[term.size() - i]} - int{suffix[suffix.size() - i]};
    if (difference != 0) return difference;
  }
  return term.size() < suffix.size() ? -1 : 0;
}

std::optional<uint32_t> findTerm(const TextSegment& segment, std::u16string_view word) {
  const uint32_t at =
      bisect(segment.termCount(), [&](uint32_t term) { return segment.term(term) >= word; });
  if (at == segment.termCount() || segment.term(at) != word) return std::nullopt;
  return at;
}

template <typename Compare>
static Range rangeOf(uint32_t count, const Compare& compare) {
  return {bisect(count, [&](uint32_t at) { return compare(at) >= 0; }),
          bisect(count, [&](uint32_t at) { return compare(at) > 0; })};
}

Range termsFrom(const TextSegment& segment, std::u16string_view prefix) {
  return rangeOf(segment.termCount(),
                 [&](uint32_t term) { return comparePrefix(segment.term(term), prefix); });
}

Range termsTo(const TextSegment& segment, std::u16string_view suffix) {
  return rangeOf(segment.termCount(), [&](uint32_t at) {
    return compareSuffix(segment.term(segment.reversed[at]), suffix);
  });
}

/// Any term with the stem.
static std::optional<uint32_t> termWithStem(const TextSegment& segment, std::u16string_view stem) {
  const size_t shared = std::max(STEM_SHARED_MIN_CHARS, sharedLetters(stem));
  const Range range = termsFrom(segment, stem.substr(0, shared));
  for (uint32_t term = range.from; term < range.to; term++) {
    const std::u16string_view word = segment.term(term);
    if (word.size() <= stem.size() + STEM_SUFFIX_MAX_CHARS && stemOf(word) == stem) return term;
  }
  for (const auto& [word, root] : stemExceptions()) {
    if (root != stem) continue;
    if (const auto term = findTerm(segment, word)) return term;
  }
  return std::nullopt;
}

std::vector<uint32_t> stemGroup(const TextSegment& segment, std::u16string_view word) {
  auto start = findTerm(segment, word);
  if (!start && mayShareStem(word)) start = termWithStem(segment, stemOf(word));
  std::vector<uint32_t> group;
  if (!start) return group;
  uint32_t term = *start;
  do {
    group.push_back(term);
    term = segment.nextSameStem[term];
  } while (term != *start && group.size() < segment.termCount());
  return group;
}

std::vector<uint32_t> linkStemGroups(std::span<const uint32_t> termStart,
                                     std::span<const char16_t> termChars) {
  const size_t terms = termStart.empty() ? 0 : termStart.size() - 1;
  std::vector<uint32_t> next(terms);
  std::unordered_map<std::u16string, uint32_t> heads;
  for (uint32_t term = 0; term < terms; term++) {
    next[term] = term;
    const std::u16string_view word(termChars.data() + termStart[term],
                                   termStart[term + 1] - termStart[term]);
    if (!mayShareStem(word)) continue;
    const auto [head, isFirst] = heads.try_emplace(stemOf(word), term);
    if (isFirst) continue;
    next[term] = next[head->second];
    next[head->second] = term;
  }
  return next;
}

}  // namespace tessera
