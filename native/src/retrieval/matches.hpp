// All files that match a retrieval.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "search/search.hpp"
#include "text/query/lookup.hpp"

namespace tessera {

class HitMaker;
struct RetrievalRequest;

/// The versions of files, and whether there are no others.
struct MatchedFiles {
  std::vector<std::string_view> versions;
  bool areAll = true;
};

/// @param scope the searched scope; null without a vector index
MatchedFiles matchedFiles(std::span<const TextSegment> segments, const Scope* scope,
                          const RetrievalRequest& request, const HitMaker& maker, TextQuery& query,
                          LookupScratch& scratch, Answer& found);

}  // namespace tessera
