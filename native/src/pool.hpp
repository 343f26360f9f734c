// The best candidates of a search by estimate, in order.
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

class Pool {
 public:
  void reset(size_t capacity) {
    capacity_ = capacity;
    entries_.clear();
    if (entries_.capacity() < capacity + 1) entries_.reserve(capacity + 1);
    next_ = 0;
  }

  /// The estimate that a candidate must exceed to enter.
  float bar() const { return entries_.size() < capacity_ ? -1e30f : entries_.back().estimate; }

  void offer(float estimate, uint32_t node) {
    if (!(estimate > bar())) return;
    if (entries_.size() == capacity_) entries_.pop_back();
    const auto place = std::upper_bound(
        entries_.begin(), entries_.end(), estimate,
        [](float value, const Candidate& entry) { return value > entry.estimate; });
    const size_t position = static_cast<size_t>(place - entries_.begin());
    entries_.insert(place, Candidate{estimate, node, false});
    next_ = std::min(next_, position);
  }

  /// The best candidate that was not expanded yet; null when there is none.
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
  /// No candidate before this one waits for its expansion.
  size_t next_ = 0;
};

}  // namespace tessera
