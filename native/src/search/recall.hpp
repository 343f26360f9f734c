// Measuring the recall of a search.
#pragma once
#include "search/search.hpp"

namespace tessera {

/// The number of true best hits of a query that a search finds.
struct RecallSample {
  uint32_t wanted;
  uint32_t found;
  /// The score of the true best hit; 0 without any.
  double best;
};

/// Answers a query as planned and exactly. A hit counts as found when its score reaches that of the
/// last true one, so that equal chunks may replace one another.
RecallSample measureRecall(const Scope& scope, const Query& query);

}  // namespace tessera
