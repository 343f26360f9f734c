// The words of a view that a misspelt word may mean.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "text/query/text_view.hpp"

namespace tessera {

/// Words of documents in scope at one typo's distance: a letter inserted, deleted or replaced, or two
/// neighbours swapped (Damerau-Levenshtein distance 1). At most `FUZZY_MAX_WORDS` words with the highest
/// document frequency, and among equal ones the first by code units.
/// @param least minimum document frequency of each word
std::vector<std::u16string> wordsAtOneTypo(const TextView& view, std::u16string_view word, size_t least);

}  // namespace tessera
