// A hierarchical navigable small world graph over codes.
//
// One writer inserts nodes in ascending order while any number of threads search: links are single
// atomic words, a list is always full of valid links or unused marks, and a search that sees a list
// half rewritten sees some old links and some new ones, all of them good.
#pragma once
#include <array>
#include <atomic>
#include <vector>

#include "codebook.hpp"
#include "column.hpp"
#include "pool.hpp"

namespace tessera {

/// Links of a node on the ground level and on each level above.
inline constexpr uint32_t GROUND_LINKS = 32;
inline constexpr uint32_t UPPER_LINKS = 16;
inline constexpr uint32_t MAX_LEVEL = 12;

/// What a search keeps in its thread.
struct GraphScratch {
  Pool pool;
  std::vector<uint64_t> visited;
  std::vector<Candidate> seeds;
};

class Graph {
 public:
  Graph(const Codebook& codebook, const Column& codes);

  /// Nodes [0, size) are in the graph.
  uint32_t size() const { return size_.load(std::memory_order_acquire); }

  /// Inserts node `size()`. Only the writer calls it.
  void insert(const CodedQuery& query, GraphScratch& scratch);

  /// Fills the scratch's pool with the best `expansion` candidates.
  void search(const CodedQuery& query, size_t expansion, GraphScratch& scratch) const;

  uint64_t bytes() const;

  /// Throws unless all links lead to nodes that exist on their level.
  void check() const;

 private:
  friend class SnapshotCodec;

  using Link = std::atomic<uint32_t>;
  struct Entry {
    uint32_t node;
    uint32_t level;
  };

  const uint8_t* code(uint32_t node) const { return codes_.row(node); }
  Link* links(uint32_t node, uint32_t level) const {
    return reinterpret_cast<Link*>(level == 0 ? ground_.row(node)
                                              : upper_.row(upperStart_.at(node) + level - 1));
  }
  static uint32_t linkCount(uint32_t level) { return level == 0 ? GROUND_LINKS : UPPER_LINKS; }
  static uint32_t levelOf(uint32_t node);

  Entry entry() const;
  /// Leaves starting points for level `toLevel` in the scratch's seeds.
  void descend(const CodedQuery& query, uint32_t toLevel, GraphScratch& scratch) const;
  /// Searches one level from the seeds.
  void searchLevel(const CodedQuery& query, uint32_t level, size_t expansion,
                   GraphScratch& scratch) const;
  static void takeSeeds(GraphScratch& scratch);
  void addNode(uint32_t node, uint32_t level);
  /// Keeps the candidates that are nearer to the base than to any candidate kept before.
  size_t selectDiverse(const std::vector<Candidate>& sorted, size_t wanted,
                       uint32_t* selected) const;
  void linkBack(uint32_t from, uint32_t to, uint32_t level);

  const Codebook& codebook_;
  const Column& codes_;
  Column ground_;
  Column upper_;
  ColumnOf<uint32_t> upperStart_;
  uint32_t upperRows_ = 0;
  std::atomic<uint32_t> size_{0};
  /// The node where searches start and its level, in one word so that both change together.
  std::atomic<uint64_t> entry_{0};
  std::vector<Candidate> rivals_;
};

}  // namespace tessera
