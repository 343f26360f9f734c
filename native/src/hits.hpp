// The best hits of a search, kept in the order that the answer has.
#pragma once
#include <vector>

#include "project.hpp"
#include "search.hpp"

namespace tessera {

class BestHits {
 public:
  BestHits(const ScopePart& part, uint32_t limit, double threshold, std::vector<Hit>& hits);

  /// Offers all chunks of a node that are in the scope.
  void offerNode(uint32_t node, double score);

  /// The score that a node must reach to change the answer.
  double bar() const { return bar_; }

  /// Puts the hits in order, best first.
  void finish();

 private:
  bool before(const Hit& a, const Hit& b) const;

  const ScopePart& part_;
  const uint32_t limit_;
  double bar_;
  /// A heap with the worst hit on top.
  std::vector<Hit>& hits_;
};

}  // namespace tessera
