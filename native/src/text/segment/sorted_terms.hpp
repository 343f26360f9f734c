// The order of the terms of a segment.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/segment/text_segment.hpp"

namespace tessera {

/// Terms as the sections of a segment hold them.
struct SortedTerms {
  /// The number of the term of each text. Equal texts have one.
  std::vector<uint32_t> numbers;
  std::vector<uint32_t> starts;
  std::u16string chars;
  /// The numbers in the order of the reversed terms.
  std::vector<uint32_t> reversed;

  uint32_t size() const { return static_cast<uint32_t>(reversed.size()); }
  std::u16string_view term(uint32_t number) const {
    return std::u16string_view(chars).substr(starts[number], starts[number + 1] - starts[number]);
  }
  /// Sets the sections of a segment to those of this object.
  void fill(TextSegment& segment) const {
    segment.termStart = starts;
    segment.termChars = chars;
    segment.reversed = reversed;
  }
};

/// Sorts texts by code unit, forwards and reversed.
SortedTerms sortTerms(std::span<const std::u16string_view> texts);

}  // namespace tessera
