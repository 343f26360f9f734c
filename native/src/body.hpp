// The JSON body of a vector search.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "limits.hpp"

namespace tessera {

struct SearchBody {
  std::vector<float> vector;
  uint32_t dimension = 0;
  uint32_t limit = DEFAULT_LIMIT;
  double threshold = DEFAULT_THRESHOLD;
};

/// Parses a body. False means "unusual": invalid, or valid in a way that is left to the slow path;
/// `out` is then undefined. Numbers equal Math.fround(JSON.parse(...)) bit by bit.
bool parseSearchBody(const uint8_t* data, size_t length, SearchBody& out);

/// What every query vector must be: as long as its dimension says, finite and not all zero.
bool usableVector(const float* vector, size_t length);

}  // namespace tessera
