#include "search/recall.hpp"

#include <algorithm>

namespace tessera {

/// Scores of one vector differ by less than this, however they are summed.
static constexpr double SCORE_TOLERANCE = 1e-9;

RecallSample measureRecall(const Scope& scope, const Query& query) {
  Answer planned, exact;
  search(scope, query, planned);
  search(scope, query, exact, Method::EXACT);
  if (exact.hits.empty()) return {0, 0, 0};
  const double minScore = exact.hits.back().score - SCORE_TOLERANCE;
  const auto found = std::count_if(planned.hits.begin(), planned.hits.end(),
                                   [&](const Hit& hit) { return hit.score >= minScore; });
  const auto wanted = static_cast<uint32_t>(exact.hits.size());
  return {wanted, std::min(wanted, static_cast<uint32_t>(found)), exact.hits.front().score};
}

}  // namespace tessera
