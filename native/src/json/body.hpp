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
  /// Names of the first members that no search has, in the order in which JavaScript has them.
  std::vector<std::u16string> ignored;
};

/// A fault of the vector. native/index.ts describes the rules and their numbers.
struct VectorFault {
  const char* rule;
  size_t number = 0;
};

/// An option as a body gives it. The number is that of NUMBER.
struct GivenOption {
  enum Kind { ABSENT, NULL_VALUE, NUMBER, OTHER } kind = ABSENT;
  double number = 0;
};

/// Why a body is not a search.
struct SearchFaults {
  /// The rule that the body itself breaks, whose members are then unknown. Null for a JSON object.
  const char* body = nullptr;
  /// The first ones.
  std::vector<VectorFault> vector;
  /// The options, of which one or more may be faulty.
  GivenOption dimension, limit, threshold;
};

/// Parses a body as JSON.parse does. Returns false when it is not a search; `out` is then undefined. The elements of the
/// vector equal Math.fround(JSON.parse(...)) bit by bit. The caller checks that the text is UTF-8.
bool parseSearchBody(const uint8_t* data, size_t length, SearchBody& out, SearchFaults& faults);

struct Span {
  size_t start, end;
};

/// The position of the value of the last member `filter`. The values of other members are not checked, so only the filter
/// of a body that `parseSearchBody` accepts is certain.
std::optional<Span> findFilter(const uint8_t* data, size_t length);

}  // namespace tessera
