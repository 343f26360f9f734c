// All files that a retrieval matches, which its pages go through.
#pragma once
#include <span>

#include "retrieval/hit_maker.hpp"
#include "retrieval/retrieve.hpp"

namespace tessera {

/// Lists the versions of the files that match, of whose hits pages are made, in the answer.
///
/// @param scope null without an index of vectors
void listMatches(std::span<const TextSegment> segments, const Scope* scope,
                 const RetrievalRequest& request, const HitMaker& maker, TextQuery& query,
                 LookupScratch& scratch, Answer& found, RetrievalAnswer& answer);

}  // namespace tessera
