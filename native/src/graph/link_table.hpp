// The links of a graph as searches read them: flat arrays, so that a step costs one read of memory.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/limits.hpp"
#include "storage/slab.hpp"

namespace tessera {

/// Most links of a node on level 0, and on each level above.
inline constexpr uint32_t M0 = 32;
inline constexpr uint32_t M = 16;

/// Nodes above level 0 have a *rank*. Nodes of higher levels come first, so the nodes of each level are the first
/// ranks. A list of links ends with NONE if it is not full.
class LinkTable {
 public:
  /// A table without links of nodes whose highest levels are these.
  explicit LinkTable(std::span<const int16_t> levels);

  uint32_t size() const { return size_; }
  uint32_t topLevel() const { return static_cast<uint32_t>(upper_.size()); }

  /// The nodes that a node links to on level 0: M0 entries.
  const uint32_t* base(uint32_t node) const { return rows() + size_t{node} * M0; }
  uint32_t* base(uint32_t node) { return rows() + size_t{node} * M0; }

  /// The nodes of a level above level 0, by rank.
  std::span<const uint32_t> nodesOf(uint32_t level) const {
    return {rankedNodes_.data(), upper_[level - 1].size() / M};
  }
  /// The ranks that a rank links to on a level above level 0: M entries.
  const uint32_t* upper(uint32_t level, uint32_t rank) const {
    return upper_[level - 1].data() + size_t{rank} * M;
  }
  uint32_t* upper(uint32_t level, uint32_t rank) {
    return upper_[level - 1].data() + size_t{rank} * M;
  }

  uint64_t bytes() const;

 private:
  uint32_t* rows() const { return reinterpret_cast<uint32_t*>(base_->data()); }

  uint32_t size_;
  std::unique_ptr<Slab> base_;
  std::vector<uint32_t> rankedNodes_;
  /// The links of each level above level 0.
  std::vector<std::vector<uint32_t>> upper_;
};

/// The entries of a list that are used.
inline uint32_t countLinks(const uint32_t* links, uint32_t most) {
  uint32_t count = 0;
  while (count < most && links[count] != NONE) count++;
  return count;
}

}  // namespace tessera
