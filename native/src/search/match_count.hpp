// Counting the chunks of a shard that reach a threshold.
#pragma once
#include <optional>

#include "search/shard_search.hpp"

namespace tessera {

/// The number of chunks of a scope in one shard whose score, in full precision, is at least the
/// query's threshold. 3-bit codes decide all vectors except those near the threshold, which are compared
/// exactly. std::nullopt if too many vectors are near the threshold.
std::optional<uint64_t> countMatches(const ScopePart& part, const QuantizedIndex& quantized,
                                     const QuantizedQuery& quantizedQuery,
                                     const PreparedQuery& prepared, SearchWork& work);

}  // namespace tessera
