// The JSON body of a vector search.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/limits.hpp"

namespace tessera {

struct SearchBody {
  std::vector<float> vector;
  uint32_t dimension = 0;
  uint32_t limit = DEFAULT_LIMIT;
  double threshold = DEFAULT_THRESHOLD;
  /// Names of the first members that no search has, separated by commas.
  std::string ignored;
  uint32_t ignoredCount = 0;
};

/// Parses a simple body. Returns false when it needs the full parser, because it is invalid or
/// because it is valid in a way that only the full parser handles; `out` is then undefined. The
/// elements of the vector equal Math.fround(JSON.parse(...)) bit by bit.
/// @param filterAt position of the value of the filter that the caller has read; 0 without a filter
bool parseSearchBody(const uint8_t* data, size_t length, SearchBody& out, size_t filterAt = 0);

struct Span {
  size_t start, end;
};

/// The position of the value of the first member `filter`, if it is an object. Other members are not checked: the
/// filter belongs to the body only if `parseSearchBody` accepts the body with it.
std::optional<Span> findFilter(const uint8_t* data, size_t length);

}  // namespace tessera
