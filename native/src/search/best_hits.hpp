// The best hits of a search.
#pragma once
#include <vector>

#include "project/project.hpp"
#include "search/search.hpp"

namespace tessera {

/// The number of chunks of a node in the scope.
uint64_t chunksOf(const ScopePart& part, uint32_t node);

/// Keeps the best `limit` chunks, ordered as the answer orders them: by score, then by chunk id.
class BestHits {
 public:
  /// Hits below `minScore`, which is at least the threshold, are counted only.
  BestHits(const Query& query, double minScore, std::vector<Hit>& hits);

  /// Offers all chunks of a node that are in the scope.
  void offerNode(const ScopePart& part, uint32_t node, double score);
  void offer(const Hit& hit);

  /// The score that a node must reach to change the answer.
  double minScore() const { return minScore_; }

  /// The chunks of offered nodes that reach the threshold.
  uint64_t matches() const { return matches_; }

  /// Sorts the hits, best first.
  void finish();

 private:
  const uint32_t limit_;
  const double threshold_;
  double minScore_;
  uint64_t matches_ = 0;
  /// Until `finish`, a heap with the worst hit on top.
  std::vector<Hit>& hits_;
};

}  // namespace tessera
