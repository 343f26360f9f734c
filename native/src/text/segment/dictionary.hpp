// Looking terms up in the sorted dictionaries of a segment.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "text/segment/text_segment.hpp"

namespace tessera {

/// The number of a term.
std::optional<uint32_t> findTerm(const TextSegment& segment, std::u16string_view word);

/// The terms that start with a prefix.
Range termsFrom(const TextSegment& segment, std::u16string_view prefix);

/// The terms that end with a suffix, as positions in `segment.reversed`.
Range termsTo(const TextSegment& segment, std::u16string_view suffix);

/// The terms whose stem in a language has a key, as positions in `segment.stemTerms`.
Range stemForms(const TextSegment& segment, uint8_t language, uint32_t key);

}  // namespace tessera
