// A hierarchical navigable small world graph (HNSW) over quantized vectors. Searches walk over 1-bit
// codes. Links are chosen by 4-bit codes, because 1-bit codes cannot tell near neighbours apart.
//
// One writer inserts nodes in ascending order while any number of threads search. A link is one
// atomic word, and every word of a list is a valid link or NONE. A search that reads a list while
// it is rewritten sees some old and some new links, all of them valid.
#pragma once
#include <array>
#include <atomic>
#include <vector>

#include "codes/rabitq_quantizer.hpp"
#include "common/limits.hpp"
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
  /// Of a walk: nodes to expand, a heap with the best estimate on top.
  std::vector<Candidate> frontier;
  /// Of a walk: the best estimates of members, a heap with the lowest on top.
  std::vector<float> best;
};

/// What a walk over level 0 looks for and when it stops.
struct WalkParameters {
  /// Members wanted; at least 1.
  size_t limit;
  /// The walk ends when every node to expand is this far below the `limit`-th best member. It adapts
  /// the effort to the query: well separated neighbours end the walk early, crowded ones keep it
  /// going. The unit is the product of the lengths of the two residuals, the most that they can add
  /// to a similarity.
  float window;
  /// Estimates after which the walk gives up.
  uint64_t maxEstimates;
  /// Nodes that the walk does not see, as if they were not in the graph. For measurements.
  uint32_t hidden[2] = {NONE, NONE};
};

/// Work of a walk.
struct WalkWork {
  uint64_t estimates = 0;
  uint64_t expansions = 0;
};

class Graph {
 public:
  Graph(const RabitqQuantizer& quantizer, const Column& codes1Bit, const Column& codes4Bit);

  /// Nodes [0, size) are in the graph.
  uint32_t size() const { return size_.load(std::memory_order_acquire); }

  /// Inserts node `size()`. Only the writer calls it.
  void insert(const QuantizedQuery& query, GraphScratch& scratch);

  /// Finds the members (`isMember(node)`) nearest to a query and fills `found` with those that may be
  /// among the `limit` best; their estimates are upper bounds. Returns false if it gave up. The
  /// definition is in graph/walk.hpp.
  template <typename IsMember>
  bool walk(const QuantizedQuery& query, const WalkParameters& parameters, IsMember isMember,
            GraphScratch& scratch, std::vector<Candidate>& found, WalkWork& work) const;

  uint64_t bytes() const;

  /// Throws unless every link leads to a node that exists on its level.
  void check() const;

 private:
  friend class SnapshotCodec;
  template <typename IsMember>
  class Walk;

  using Link = std::atomic<uint32_t>;
  struct Entry {
    uint32_t node;
    uint32_t level;
  };

  const uint8_t* code(uint32_t node) const { return codes1Bit_.row(node); }
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
  /// Replaces the estimates of candidates by those of their 4-bit codes and sorts them, best first.
  void sortBy4BitCodes(const QuantizedQuery& query, std::vector<Candidate>& candidates) const;
  /// Selects candidates that are nearer to the base than to every candidate selected before.
  size_t selectNeighbours(const std::vector<Candidate>& sorted, size_t wanted, uint32_t* selected);
  void addReverseLink(uint32_t from, uint32_t to, uint32_t level);

  const RabitqQuantizer& quantizer_;
  const Column& codes1Bit_;
  const Column& codes4Bit_;
  Column layer0_;
  Column upperLayers_;
  ColumnOf<uint32_t> upperStart_;
  uint32_t upperRows_ = 0;
  std::atomic<uint32_t> size_{0};
  /// The node where searches start (low half) and its level, in one word so that both change at
  /// once.
  std::atomic<uint64_t> entry_{0};
  /// Memory of the writer: the candidates for a full list; the node inserted, the owner of a list, and
  /// selected nodes as queries.
  std::vector<Candidate> neighbours_;
  QuantizedQuery inserted_;
  QuantizedQuery listOwner_;
  std::array<QuantizedQuery, M0> selectedQueries_;
};

}  // namespace tessera
