// The candidates of a graph search, ordered by estimate.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace tessera {

struct Candidate {
  float estimate;
  uint32_t node;
  bool expanded;
};

/// Holds the best `capacity` candidates, best first, and knows which of them were expanded.
class CandidateQueue {
 public:
  void reset(size_t capacity) {
    capacity_ = capacity;
    entries_.clear();
    if (entries_.capacity() < capacity + 1) entries_.reserve(capacity + 1);
    next_ = 0;
  }

  /// The estimate that a candidate must exceed to enter.
  float minEstimate() const {
    return entries_.size() < capacity_ ? -1e30f : entries_.back().estimate;
  }

  void offer(float estimate, uint32_t node) {
    if (!(estimate > minEstimate())) return;
    if (entries_.size() == capacity_) entries_.pop_back();
    const auto place = std::upper_bound(
        entries_.begin(), entries_.end(), estimate,
        [](float value, const Candidate& entry) { return value > entry.estimate; });
    const size_t position = static_cast<size_t>(place - entries_.begin());
    entries_.insert(place, Candidate{estimate, node, false});
    next_ = std::min(next_, position);
  }

  /// The best candidate that was not expanded yet, or null.
  const Candidate* peekNext() {
    while (next_ < entries_.size() && entries_[next_].expanded) next_++;
    return next_ == entries_.size() ? nullptr : &entries_[next_];
  }

  /// The same, marked as expanded.
  const Candidate* expandNext() {
    if (peekNext() == nullptr) return nullptr;
    entries_[next_].expanded = true;
    return &entries_[next_];
  }

  std::vector<Candidate>& entries() { return entries_; }
  const std::vector<Candidate>& entries() const { return entries_; }

 private:
  size_t capacity_ = 0;
  std::vector<Candidate> entries_;
  /// All candidates before this position were expanded.
  size_t next_ = 0;
};

}  // namespace tessera
