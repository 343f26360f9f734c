// Searching one shard of a scope.
#pragma once
#include "search/best_hits.hpp"
#include "search/search.hpp"

namespace tessera {

/// A query that is prepared for all shards.
struct PreparedQuery {
  Query query;
  Method method;
  /// Whether to count all chunks that reach the threshold, and not only those that are scored.
  bool isCounted;
  /// One over the length of the vector.
  double inverseNorm;
  /// The vector, normalised and rotated.
  std::vector<float> rotated;
};

/// True when all members of a shard are compared exactly, which needs no rotated vector.
bool isComparedExactly(const ScopePart& part, const Query& query, Method method);

/// The cosine similarity of a query and a node, in full precision.
double exactScore(const VectorTable& vectors, const PreparedQuery& query, uint32_t node);

/// Offers the hits of one shard to `best` by the cheapest plan, or by the given one, and returns the plan.
/// Candidates that cannot be among the best are not ranked exactly, so a shard costs less if other shards
/// were searched before. The walk over its graph does not use their scores: on its way to the nearest nodes
/// it passes nodes that are far below the best.
Plan searchShard(const ScopePart& part, const PreparedQuery& query, BestHits& best,
                 SearchWork& work);

}  // namespace tessera
