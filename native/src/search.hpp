// Searching a scope: the plan, the candidates, and their order by exact score.
#pragma once
#include <vector>

#include "project.hpp"

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

struct Answer {
  std::vector<Hit> hits;
  const Index* index = nullptr;
  const char* plan = "empty";
  double milliseconds = 0;
};

/// Finds the best chunks of a scope: score (cosine in full precision) >= threshold, best first, ties
/// by chunk id. The answer's storage is reused.
void search(const Scope& scope, const Query& query, Answer& answer);

/// The same by brute force over every member.
void exactSearch(const Scope& scope, const Query& query, Answer& answer);

}  // namespace tessera
