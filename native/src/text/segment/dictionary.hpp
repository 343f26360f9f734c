// Looking terms up in the sorted dictionaries of a segment.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/segment/text_segment.hpp"

namespace tessera {

/// The number of a term.
std::optional<uint32_t> findTerm(const TextSegment& segment, std::u16string_view word);

/// The terms that start with a prefix.
Range termsFrom(const TextSegment& segment, std::u16string_view prefix);

/// The terms that end with a suffix, as positions in `segment.reversed`.
Range termsTo(const TextSegment& segment, std::u16string_view suffix);

/// All terms with the same stem as the word, whether or not it is one of them.
std::vector<uint32_t> stemGroup(const TextSegment& segment, std::u16string_view word);

/// Groups terms by stem as circular lists: the links from any term visit its whole group and return to
/// it. A term alone in its group links to itself.
std::vector<uint32_t> linkStemGroups(std::span<const uint32_t> termStart,
                                     std::span<const char16_t> termChars);

}  // namespace tessera
