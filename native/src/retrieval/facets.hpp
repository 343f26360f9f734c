// The facets of a retrieval: for each field the values of the files that match, with the number of files of each.
#pragma once
#include <chrono>
#include <string>
#include <vector>

#include "fields/shared_fields.hpp"
#include "retrieval/matches.hpp"

namespace tessera {

/// The fields to count, as filters name them, and where.
struct FacetRequest {
  std::vector<std::u16string> names;
  CountedScope counted;
  /// A count that takes longer would hold up other requests.
  std::chrono::milliseconds maxTime;
};

/// Appends the facets to a response body. Returns false, and leaves it unusable, if counting takes too long.
bool appendFacets(std::string& json, const FacetRequest& request, const MatchedFiles& files);

}  // namespace tessera
