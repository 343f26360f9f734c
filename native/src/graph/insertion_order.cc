#include "graph/insertion_order.hpp"

#include <algorithm>

#include "graph/in_threads.hpp"

namespace tessera {

/// Nodes per group on average: enough that a group's neighbourhood is read once for many insertions, and
/// few enough that it fits into the cache of one core.
static constexpr uint32_t GROUP_NODES = 512;
/// Maximum number of groups. With more, comparing nodes with them costs more than it gains.
static constexpr uint32_t MAX_GROUPS = 512;
/// Longer groups are divided, so that threads end at about the same time.
static constexpr size_t MAX_GROUP_NODES = 4 * GROUP_NODES;
/// One in this many of the first nodes of a graph is inserted before the groups.
static constexpr uint32_t EARLY_SHARE = 16;
/// Nodes that a thread takes at a time to find their groups.
static constexpr uint32_t BATCH = 256;

namespace {

/// Assigns nodes to the most similar node of a sample.
class Grouping {
 public:
  Grouping(const Codes& codes, uint32_t first, uint32_t last, const std::atomic<bool>& cancelled)
      : codes_(codes), first_(first), groupOf_(last - first), cancelled_(cancelled), next_(first) {
    const uint32_t groups = std::clamp((last - first) / GROUP_NODES, 1u, MAX_GROUPS);
    for (uint32_t group = 0; group < groups; group++) {
      const uint64_t offset = uint64_t{last - first} * group / groups;
      middles_.push_back(codes.codes1Bit.row(first + static_cast<uint32_t>(offset)));
    }
  }

  void run() {
    QuantizedQuery query;
    std::vector<float> estimates(middles_.size());
    const uint32_t last = first_ + static_cast<uint32_t>(groupOf_.size());
    while (!cancelled_.load(std::memory_order_relaxed)) {
      const uint32_t from = next_.fetch_add(BATCH);
      if (from >= last) return;
      for (uint32_t node = from; node < std::min(from + BATCH, last); node++) {
        codes_.quantizer.encodeCodeAsQuery(codes_.code3Bit(node), query);
        codes_.quantizer.estimate1Bit(query, middles_.data(), middles_.size(), estimates.data());
        const auto best = std::max_element(estimates.begin(), estimates.end());
        groupOf_[node - first_] = static_cast<uint32_t>(best - estimates.begin());
      }
    }
  }

  /// Appends the nodes for which `isWanted(index)` is true, group by group.
  template <typename IsWanted>
  void append(InsertionOrder& order, IsWanted isWanted) const {
    std::vector<std::vector<uint32_t>> members(middles_.size());
    for (uint32_t i = 0; i < groupOf_.size(); i++) {
      if (isWanted(i)) members[groupOf_[i]].push_back(first_ + i);
    }
    for (const std::vector<uint32_t>& group : members) {
      for (size_t i = 0; i < group.size(); i++) {
        order.nodes.push_back(group[i]);
        if ((i + 1) % MAX_GROUP_NODES == 0 || i + 1 == group.size()) {
          order.ends.push_back(order.nodes.size());
        }
      }
    }
  }

 private:
  const Codes& codes_;
  const uint32_t first_;
  /// The codes that the groups are around.
  std::vector<const uint8_t*> middles_;
  std::vector<uint32_t> groupOf_;
  const std::atomic<bool>& cancelled_;
  std::atomic<uint32_t> next_;
};

}  // namespace

InsertionOrder insertionOrder(const Codes& codes, uint32_t first, uint32_t last, unsigned threads,
                              const std::atomic<bool>& cancelled) {
  InsertionOrder order;
  order.nodes.reserve(last - first);
  Grouping grouping(codes, first, last, cancelled);
  inThreads(threads, [&](unsigned) { grouping.run(); });
  const auto isEarly = [&](uint32_t i) { return first == 0 && i % EARLY_SHARE == 0; };
  grouping.append(order, isEarly);
  grouping.append(order, [&](uint32_t i) { return !isEarly(i); });
  return order;
}

}  // namespace tessera
