#include "search.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "hits.hpp"
#include "kernels.hpp"

namespace tessera {

static double elapsedMilliseconds(std::chrono::steady_clock::time_point start) {
  const auto elapsed = std::chrono::steady_clock::now() - start;
  return static_cast<double>(std::chrono::duration_cast<std::chrono::microseconds>(elapsed).count()) /
         1000.0;
}

static void scanExactly(const ScopePart& part, const Query& query, double inverseNorm,
                        BestHits& best) {
  const Index& index = *part.index;
  part.nodes.forEach([&](uint32_t node) {
    const double dot = kernels().dot(query.vector, index.vector(node), query.dimension);
    best.offerNode(node, dot * inverseNorm * index.inverseNorm(node));
  });
}

void exactSearch(const Scope& scope, const Query& query, Answer& answer) {
  const auto start = std::chrono::steady_clock::now();
  answer.hits.clear();
  answer.index = nullptr;
  answer.plan = "empty";
  const auto& part = scope.parts[static_cast<size_t>(dimensionSlot(query.dimension))];
  if (part) {
    const double norm = std::sqrt(kernels().dot(query.vector, query.vector, query.dimension));
    BestHits best(*part, query.limit, query.threshold, answer.hits);
    scanExactly(*part, query, 1 / norm, best);
    best.finish();
    answer.index = part->index.get();
    answer.plan = "exact";
  }
  answer.milliseconds = elapsedMilliseconds(start);
}

void search(const Scope& scope, const Query& query, Answer& answer) {
  exactSearch(scope, query, answer);
}

}  // namespace tessera
