// A hash table of nodes that costs few bytes per node.
#pragma once
#include <atomic>
#include <cstdint>
#include <vector>

#include "common/limits.hpp"

namespace tessera {

/// Finds nodes by their hashes, which are stored elsewhere: open addressing with linear probing. It grows by half,
/// so between a half and three quarters of its slots are in use.
class NodeTable {
 public:
  /// `hashOf(node)` is the hash of this node and of every node that was added.
  template <typename HashOf>
  void add(uint32_t node, const HashOf& hashOf) {
    if ((uint64_t{nodes_} + 1) * 4 > slots_.size() * 3) grow(hashOf);
    place(node, hashOf(node));
    nodes_++;
  }

  /// The node with this hash for which `isWanted(node)` returns true; otherwise NONE. `isWanted` is also called for
  /// nodes with other hashes.
  template <typename IsWanted>
  uint32_t find(uint64_t hash, const IsWanted& isWanted) const {
    if (slots_.empty()) return NONE;
    for (size_t slot = slotOf(hash); slots_[slot] != NONE; slot = after(slot)) {
      if (isWanted(slots_[slot])) return slots_[slot];
    }
    return NONE;
  }

  /// The number of slots that are probed to find each node once.
  template <typename HashOf>
  uint64_t probes(const HashOf& hashOf) const {
    uint64_t sum = 0;
    for (size_t slot = 0; slot < slots_.size(); slot++) {
      if (slots_[slot] == NONE) continue;
      const size_t first = slotOf(hashOf(slots_[slot]));
      sum += 1 + (slot >= first ? slot - first : slot + slots_.size() - first);
    }
    return sum;
  }

  /// Any thread may call this. All other methods are for the writer.
  uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  static constexpr size_t FIRST_SLOTS = 64;

  /// The high half of a product spreads hashes over any number of slots.
  size_t slotOf(uint64_t hash) const {
    return static_cast<size_t>((hash >> 32) * uint64_t{slots_.size()} >> 32);
  }
  size_t after(size_t slot) const { return slot + 1 == slots_.size() ? 0 : slot + 1; }

  void place(uint32_t node, uint64_t hash) {
    size_t slot = slotOf(hash);
    while (slots_[slot] != NONE) slot = after(slot);
    slots_[slot] = node;
  }

  template <typename HashOf>
  void grow(const HashOf& hashOf) {
    std::vector<uint32_t> old(slots_.empty() ? FIRST_SLOTS : slots_.size() * 3 / 2, NONE);
    old.swap(slots_);
    bytes_.store(slots_.size() * sizeof(uint32_t), std::memory_order_relaxed);
    for (const uint32_t node : old) {
      if (node != NONE) place(node, hashOf(node));
    }
  }

  std::vector<uint32_t> slots_;
  std::atomic<uint64_t> bytes_{0};
  uint32_t nodes_ = 0;
};

}  // namespace tessera
