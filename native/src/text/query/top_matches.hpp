// The best of many matches.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "text/segment/text_segment.hpp"

namespace tessera {

/// A matching document.
struct TextMatch {
  uint32_t segment;
  uint32_t document;
  double score;
};

/// The order of ranks: higher scores first, and equal ones in byte order of their paths.
class RankOrder {
 public:
  explicit RankOrder(std::span<const TextSegment> segments) : segments_(segments) {}

  bool operator()(const TextMatch& a, const TextMatch& b) const {
    if (a.score != b.score) return a.score > b.score;
    // Documents of a segment are in the order of their paths.
    if (a.segment == b.segment) return a.document < b.document;
    return segments_[a.segment].path(a.document) < segments_[b.segment].path(b.document);
  }

 private:
  std::span<const TextSegment> segments_;
};

/// Collects the best `capacity` matches, in a heap with the worst of them on top, so that one
/// comparison rejects most offers.
class TopMatches {
 public:
  TopMatches(size_t capacity, const RankOrder& order) : capacity_(capacity), order_(order) {}

  void offer(const TextMatch& match) {
    if (heap_.size() < capacity_) {
      heap_.push_back(match);
      std::push_heap(heap_.begin(), heap_.end(), order_);
    } else {
      if (match.score < least_ || !order_(match, heap_.front())) return;
      std::pop_heap(heap_.begin(), heap_.end(), order_);
      heap_.back() = match;
      std::push_heap(heap_.begin(), heap_.end(), order_);
    }
    if (heap_.size() == capacity_) least_ = heap_.front().score;
  }

  /// Matches with a lower score need not be offered.
  double least() const { return least_; }

  /// Returns the matches, best first. No further match may be offered.
  std::vector<TextMatch>& sorted() {
    std::sort(heap_.begin(), heap_.end(), order_);
    return heap_;
  }

 private:
  const size_t capacity_;
  const RankOrder& order_;
  std::vector<TextMatch> heap_;
  double least_ = -std::numeric_limits<double>::infinity();
};

}  // namespace tessera
