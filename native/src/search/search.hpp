// Searching a scope: the plan, the candidates, and their order by exact score.
#pragma once
#include <vector>

#include "project/project.hpp"

namespace tessera {

struct Query {
  const float* vector;
  uint32_t dimension;
  uint32_t limit;
  double threshold;
};

struct Hit {
  uint32_t ordinal;
  double score;
};

/// What a search has read, for comparing plans by counted work.
struct SearchWork {
  /// Estimates from 1-bit codes, of a walk and of a scan.
  uint64_t estimates = 0;
  uint64_t expansions = 0;
  uint64_t codes4Bit = 0;
  uint64_t vectors = 0;
};

struct Answer {
  /// Best first; equal scores are ordered by chunk id.
  std::vector<Hit> hits;
  /// The index of the hits; null when the scope has no chunks of the dimension.
  const Index* index = nullptr;
  /// "empty", "exact", "scan" or "graph".
  const char* plan = "empty";
  double milliseconds = 0;
  SearchWork work;
};

/// How a search finds the hits of one part of a scope.
enum class Method { PLANNED, EXACT, SCAN, GRAPH };

/// Finds the best chunks of a scope whose score (cosine in full precision) is at least the
/// threshold. Reuses the memory of the answer. EXACT compares every member's full vector. SCAN and
/// GRAPH force a plan, for comparisons; GRAPH still scans where there is no graph.
void search(const Scope& scope, const Query& query, Answer& answer,
            Method method = Method::PLANNED);

}  // namespace tessera
