// Finds documents that write a word of a query as several.
#pragma once
#include <vector>

#include "text/query/text_view.hpp"

namespace tessera {

/// By segment, the terms that are parts of the word, the last one in any form, and that follow each other in documents
/// in scope.
std::vector<std::vector<ApartTerms>> apartTerms(const TextView& view, const AnalysedWord& word);

}  // namespace tessera
