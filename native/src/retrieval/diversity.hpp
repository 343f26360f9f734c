// Moves candidates that resemble better ones back, so that results are diverse.
#pragma once
#include <cstdint>
#include <vector>

#include "retrieval/candidates.hpp"

namespace tessera {

/// Candidates that are compared with each other. Later candidates are ordered in groups of the same size, so that
/// the order does not depend on the number of wanted ones.
inline constexpr size_t DIVERSE_CANDIDATES = 256;

/// Orders candidates by maximal marginal relevance: the next candidate maximises
/// (1 - diversity) * score - diversity * greatest cosine with an earlier candidate. That cosine is 0 without a vector.
///
/// @param ranked candidates by score; those from `wanted` on may keep their order
/// @param diversity weight of the cosine, above 0, at most 1
/// @param dimension dimension of the vectors
void diversify(std::vector<const HitCandidate*>& ranked, double diversity, uint32_t dimension,
               size_t wanted);

}  // namespace tessera
