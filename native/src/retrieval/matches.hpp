// All files that match a retrieval.
#pragma once
#include <span>

#include "retrieval/hit_maker.hpp"
#include "retrieval/retrieve.hpp"

namespace tessera {

/// Lists the versions of the files that match in the answer.
///
/// @param scope the searched scope; null without a vector index
void listMatches(std::span<const TextSegment> segments, const Scope* scope,
                 const RetrievalRequest& request, const HitMaker& maker, TextQuery& query,
                 LookupScratch& scratch, Answer& found, RetrievalAnswer& answer);

}  // namespace tessera
