#include "text/segment/dictionary.hpp"

#include <algorithm>

namespace tessera {

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

Range stemForms(const TextSegment& segment, uint8_t language, uint32_t key) {
  const uint32_t start = segment.stemStart[language];
  const auto keys = segment.stemKeys.subspan(start, segment.stemStart[language + 1u] - start);
  const auto [from, to] = std::ranges::equal_range(keys, key);
  return {start + static_cast<uint32_t>(from - keys.begin()),
          start + static_cast<uint32_t>(to - keys.begin())};
}

}  // namespace tessera
