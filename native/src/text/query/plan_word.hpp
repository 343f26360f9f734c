// Finds the terms that a word of a query matches, and weighs them.
#pragma once
#include "text/segment/text_query.hpp"
#include "text/query/text_view.hpp"

namespace tessera {

/// It depends on the documents in scope, but not on how they are spread over segments: all terms of the
/// view that match the word are found.
PlannedWord planWord(const TextView& view, const AnalysedWord& word);

/// A word that documents write as one with its neighbours: the terms, by segment, count for it, too.
PlannedWord withJoined(const TextView& view, const PlannedWord& word, std::span<const std::vector<uint32_t>> terms);

/// Inverse document frequency as in BM25: positive even for a term that every document holds.
double idfOf(size_t documents, size_t frequency);

}  // namespace tessera
