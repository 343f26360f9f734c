// A hierarchical navigable small world graph (HNSW) over 1-bit codes.
//
// One writer inserts nodes in ascending order while any number of threads search. A link is one
// atomic word, and every word of a list is a valid link or NONE. A search that reads a list while
// it is rewritten sees some old and some new links, all of them valid.
#pragma once
#include <array>
#include <atomic>
#include <vector>

#include "codes/rabitq_quantizer.hpp"
#include "storage/column.hpp"
#include "graph/candidate_queue.hpp"

namespace tessera {

/// Most links of a node on level 0, and on each level above.
inline constexpr uint32_t M0 = 32;
inline constexpr uint32_t M = 16;
inline constexpr uint32_t MAX_LEVEL = 12;

/// Memory that a thread reuses from search to search.
struct GraphScratch {
  CandidateQueue queue;
  std::vector<uint64_t> visited;
  std::vector<Candidate> entryPoints;
};

class Graph {
 public:
  Graph(const RabitqQuantizer& quantizer, const Column& codes);

  /// Nodes [0, size) are in the graph.
  uint32_t size() const { return size_.load(std::memory_order_acquire); }

  /// Inserts node `size()`. Only the writer calls it.
  void insert(const QuantizedQuery& query, GraphScratch& scratch);

  /// Fills `scratch.queue` with the best `ef` candidates.
  void search(const QuantizedQuery& query, size_t ef, GraphScratch& scratch) const;

  uint64_t bytes() const;

  /// Throws unless every link leads to a node that exists on its level.
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
    return reinterpret_cast<Link*>(level == 0 ? layer0_.row(node)
                                              : upperLayers_.row(upperStart_.at(node) + level - 1));
  }
  static uint32_t linkCount(uint32_t level) { return level == 0 ? M0 : M; }
  static uint32_t levelOf(uint32_t node);

  Entry entry() const;
  /// Searches the levels above `toLevel` and leaves entry points for it in the scratch.
  void descend(const QuantizedQuery& query, uint32_t toLevel, GraphScratch& scratch) const;
  /// Searches one level from the entry points.
  void searchLevel(const QuantizedQuery& query, uint32_t level, size_t ef,
                   GraphScratch& scratch) const;
  static void useAsEntryPoints(GraphScratch& scratch);
  void addNode(uint32_t node, uint32_t level);
  /// Selects candidates that are nearer to the base than to every candidate selected before.
  size_t selectNeighbours(const std::vector<Candidate>& sorted, size_t wanted,
                       uint32_t* selected) const;
  void addReverseLink(uint32_t from, uint32_t to, uint32_t level);

  const RabitqQuantizer& quantizer_;
  const Column& codes_;
  Column layer0_;
  Column upperLayers_;
  ColumnOf<uint32_t> upperStart_;
  uint32_t upperRows_ = 0;
  std::atomic<uint32_t> size_{0};
  /// The node where searches start (low half) and its level, in one word so that both change at
  /// once.
  std::atomic<uint64_t> entry_{0};
  std::vector<Candidate> neighbours_;
};

}  // namespace tessera
