// Puts candidates that say something new before those that repeat better ones.
#pragma once
#include <cstdint>
#include <vector>

#include "retrieval/candidates.hpp"

namespace tessera {

/// Candidates that are compared with each other. Later ones follow in groups of the same size, so that the
/// order does not depend on how many are wanted.
inline constexpr size_t DIVERSE_CANDIDATES = 256;

/// Orders candidates by maximal marginal relevance: the next one is that with the highest
/// (1 - diversity) * score - diversity * its greatest cosine with those before. One without a vector is like
/// no other.
///
/// @param ranked by score; those from `wanted` on may stay as they are
/// @param diversity above 0, at most 1
/// @param dimension that of the vectors
void diversify(std::vector<const HitCandidate*>& ranked, double diversity, uint32_t dimension,
               size_t wanted);

}  // namespace tessera
