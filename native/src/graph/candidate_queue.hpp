// The candidates of a graph search, ordered by estimate.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

namespace tessera {

struct Candidate {
  float estimate;
  uint32_t node;
};

/// Holds the best `CAPACITY` candidates, best first, and marks those that were expanded. It holds at most
/// `MAX_NEAR` candidates near the best, so that one group of similar nodes leaves room for others. An offer
/// costs a few instructions, because no branch depends on its place.
template <uint32_t CAPACITY, uint32_t MAX_NEAR>
class CandidateQueue {
 public:
  /// Candidates at most `nearWidth` below the best estimate are near.
  void clear(float nearWidth) {
    nearWidth_ = nearWidth;
    size_ = 0;
    expanded_ = 0;
    for (float& estimate : estimates_) estimate = NOTHING;
  }

  void offer(float estimate, uint32_t node) {
    if (!(estimate > estimates_[CAPACITY - 1])) return;
    const float leastNear = std::max(estimate, estimates_[0]) - nearWidth_;
    uint32_t place = 0, near = 0;
    for (uint32_t i = 0; i < CAPACITY; i++) {
      place += estimates_[i] >= estimate;
      near += estimates_[i] >= leastNear;
    }
    const bool isCrowded = estimate >= leastNear && near >= MAX_NEAR;
    if (isCrowded && place == near) return;
    insert(estimate, node, place, isCrowded ? near - 1 : CAPACITY - 1);
    if (!isCrowded && size_ < CAPACITY) size_++;
  }

  /// From this estimate on, candidates are near the best.
  float leastNear() const { return estimates_[0] - nearWidth_; }
  uint32_t size() const { return size_; }
  Candidate operator[](uint32_t i) const { return {estimates_[i], nodes_[i]}; }

  /// Expanded candidates that are still in the queue.
  uint32_t expansions() const { return static_cast<uint32_t>(std::popcount(expanded_)); }

  /// Marks the best candidate that is not expanded yet as expanded and sets `node` to its node. Returns false
  /// if its estimate is lower than `minEstimate`, or if all candidates are expanded.
  bool expandNext(float minEstimate, uint32_t& node) {
    const auto next = static_cast<uint32_t>(std::countr_one(expanded_));
    if (next >= size_ || estimates_[next] < minEstimate) return false;
    expanded_ |= uint64_t{1} << next;
    node = nodes_[next];
    return true;
  }

 private:
  static_assert(CAPACITY < 64, "one word says which candidates were expanded");
  static constexpr float NOTHING = -1e30f;

  /// Moves the candidates from `place` on back by one, over that at `last`.
  void insert(float estimate, uint32_t node, uint32_t place, uint32_t last) {
    const size_t moved = (last - place) * sizeof(float);
    std::memmove(estimates_ + place + 1, estimates_ + place, moved);
    std::memmove(nodes_ + place + 1, nodes_ + place, moved);
    estimates_[place] = estimate;
    nodes_[place] = node;
    const uint64_t before = (uint64_t{1} << place) - 1, behind = ~uint64_t{1} << last;
    const uint64_t movedBits = (expanded_ & ~before) << 1 & ~behind;
    expanded_ = (expanded_ & (before | behind)) | movedBits;
  }

  float nearWidth_ = 0;
  uint32_t size_ = 0;
  /// A bit for each candidate.
  uint64_t expanded_ = 0;
  float estimates_[CAPACITY];
  uint32_t nodes_[CAPACITY];
};

}  // namespace tessera
