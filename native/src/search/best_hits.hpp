// The best hits of a search.
#pragma once
#include <vector>

#include "project/project.hpp"
#include "search/search.hpp"

namespace tessera {

/// Keeps the best `limit` chunks, ordered as the answer orders them: by score, then by chunk id.
class BestHits {
 public:
  BestHits(uint32_t limit, double threshold, std::vector<Hit>& hits);

  /// Offers all chunks of a node that are in the scope.
  void offerNode(const ScopePart& part, uint32_t node, double score);
  void offer(const Hit& hit);

  /// The score that a node must reach to change the answer.
  double minScore() const { return minScore_; }

  /// Sorts the hits, best first.
  void finish();

 private:
  const uint32_t limit_;
  double minScore_;
  /// Until `finish`, a heap with the worst hit on top.
  std::vector<Hit>& hits_;
};

}  // namespace tessera
