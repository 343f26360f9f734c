// Searching a scope: the plan for each of its shards, the candidates, and their order by exact score.
#pragma once
#include <vector>

#include "project/project.hpp"

namespace tessera {

struct Query {
  const float* vector;
  uint32_t dimension;
  uint32_t limit;
  double threshold;
  /// Whether all that reach the threshold are counted in a small scope.
  bool counts = true;
};

/// A chunk. The scope that was searched keeps its shard alive.
struct Hit {
  const Shard* shard;
  uint32_t row;
  double score;
};

/// The work of a search, for comparing plans by counts, and how long it took to rank.
struct SearchWork {
  /// Distinct vectors of the scope.
  uint64_t members = 0;
  /// Estimates from 1-bit codes, of a walk and of a scan.
  uint64_t estimates = 0;
  uint64_t expansions = 0;
  uint64_t codes3Bit = 0;
  uint64_t vectors = 0;
  /// Chunks that are known to reach the threshold: all of them if `countsAll`, otherwise at least those whose
  /// score was computed.
  uint64_t matches = 0;
  bool countsAll = true;
  /// The time of ranking candidates by better codes and by full vectors; threads add up.
  double rescoreMilliseconds = 0;

  void add(const SearchWork& other) {
    members += other.members;
    estimates += other.estimates;
    expansions += other.expansions;
    codes3Bit += other.codes3Bit;
    vectors += other.vectors;
    matches += other.matches;
    countsAll = countsAll && other.countsAll;
    rescoreMilliseconds += other.rescoreMilliseconds;
  }
};

/// How a shard was searched, or several: the last of these that occurred. native/index.ts lists them
/// in the same order.
enum class Plan { EMPTY, EXACT, SCAN, GRAPH };

struct Answer {
  /// Best first; equal scores are ordered by chunk id.
  std::vector<Hit> hits;
  Plan plan = Plan::EMPTY;
  double milliseconds = 0;
  SearchWork work;
};

/// How a search finds the hits of one shard of a scope.
enum class Method { PLANNED, EXACT, SCAN, GRAPH };

/// Finds the best chunks of a scope whose score (cosine in full precision) is at least the
/// threshold. Reuses the memory of the answer. EXACT compares every member's full vector. SCAN and
/// GRAPH force a plan, for comparisons. GRAPH still scans a shard without a graph. Several threads search
/// the shards of a large scope while no other search runs.
void search(const Scope& scope, const Query& query, Answer& answer,
            Method method = Method::PLANNED);

/// Sets whether searches may use several threads, for comparisons. Returns the previous setting.
bool allowHelpers(bool allowed);

}  // namespace tessera
