// Counting the chunks of a shard that reach a threshold.
#pragma once
#include <optional>

#include "search/shard_search.hpp"

namespace tessera {

/// The number of chunks of a scope in one shard whose score, in full precision, is at least the
/// query's threshold. 3-bit codes settle all but the vectors near the threshold, which are compared.
/// Nothing if these are too many.
std::optional<uint64_t> countMatches(const ScopePart& part, const QuantizedIndex& quantized,
                                     const QuantizedQuery& quantizedQuery,
                                     const PreparedQuery& prepared, SearchWork& work);

}  // namespace tessera
