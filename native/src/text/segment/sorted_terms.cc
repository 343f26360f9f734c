#include "text/segment/sorted_terms.hpp"

#include <algorithm>

namespace tessera {

namespace {

using View = std::u16string_view;

/// A text with its first code units, which decide most comparisons without the text.
struct Keyed {
  uint64_t key;
  uint32_t text;
};

constexpr size_t KEY_UNITS = 4;

/// @param unitAt gives the unit at a position of a text
template <typename UnitAt>
uint64_t keyOf(size_t length, const UnitAt& unitAt) {
  uint64_t key = 0;
  for (size_t i = 0; i < KEY_UNITS; i++) key = key << 16 | (i < length ? uint64_t{unitAt(i)} : 0);
  return key;
}

/// Sorts texts by their keys, and texts with equal keys by `isLess`.
template <typename IsLess>
void sortByKey(std::vector<Keyed>& all, const IsLess& isLess) {
  std::ranges::sort(all, [&](const Keyed& a, const Keyed& b) {
    return a.key != b.key ? a.key < b.key : isLess(a.text, b.text);
  });
}

std::vector<uint32_t> reversedOrder(const SortedTerms& terms) {
  const size_t count = terms.starts.size() - 1;
  std::vector<Keyed> all;
  all.reserve(count);
  for (uint32_t number = 0; number < count; number++) {
    const View term = terms.term(number);
    all.push_back({keyOf(term.size(), [&](size_t i) { return term[term.size() - 1 - i]; }), number});
  }
  sortByKey(all, [&](uint32_t a, uint32_t b) {
    const View first = terms.term(a), second = terms.term(b);
    return std::lexicographical_compare(first.rbegin(), first.rend(), second.rbegin(), second.rend());
  });
  std::vector<uint32_t> order;
  order.reserve(count);
  for (const Keyed& each : all) order.push_back(each.text);
  return order;
}

}  // namespace

SortedTerms sortTerms(std::span<const View> texts) {
  std::vector<Keyed> all;
  all.reserve(texts.size());
  for (uint32_t i = 0; i < texts.size(); i++) {
    all.push_back({keyOf(texts[i].size(), [&](size_t at) { return texts[i][at]; }), i});
  }
  sortByKey(all, [&](uint32_t a, uint32_t b) { return texts[a] < texts[b]; });
  SortedTerms sorted;
  sorted.numbers.resize(texts.size());
  sorted.starts.push_back(0);
  const View* last = nullptr;
  for (const Keyed& each : all) {
    const View text = texts[each.text];
    if (last == nullptr || *last != text) {
      sorted.chars += text;
      sorted.starts.push_back(offsetOf(sorted.chars.size()));
    }
    last = &texts[each.text];
    sorted.numbers[each.text] = static_cast<uint32_t>(sorted.starts.size() - 2);
  }
  sorted.reversed = reversedOrder(sorted);
  return sorted;
}

}  // namespace tessera
