// A hierarchical navigable small world graph (HNSW) over quantized vectors, held by USearch.
//
// A graph is one generation. A background thread builds it, and it is immutable once it is published, so any
// number of threads search it without locks. The next generation is a copy with more nodes. 3-bit codes choose
// the links, because 1-bit codes cannot distinguish near neighbours. Searches walk over 1-bit codes,
// with a walk of their own (graph/walk.hpp): USearch's search descends to a single entry point, marks
// visited nodes in a hash table, estimates one neighbour at a time, and cannot adapt its effort to the
// query.
#pragma once
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "codes/rabitq_quantizer.hpp"
#include "common/limits.hpp"
#include "common/prefetch.hpp"
#include "graph/candidate_queue.hpp"
#include "graph/link_table.hpp"
#include "storage/column.hpp"

namespace tessera {

/// The codes of the nodes of a graph; their rows never change.
struct Codes {
  const RabitqQuantizer& quantizer;
  const Column& codes1Bit;
  const Column& refinements;

  Code3Bit code3Bit(uint32_t node) const { return {codes1Bit.row(node), refinements.row(node)}; }
  /// Reads ahead the 3-bit code of a node.
  void prefetch3Bit(uint32_t node) const {
    prefetch(codes1Bit.row(node), codes1Bit.rowBytes());
    prefetch(refinements.row(node), refinements.rowBytes());
  }
};

/// The nodes that a search has met.
class VisitedSet {
 public:
  void reset(size_t nodes) { words_.assign((nodes + 63) / 64, 0); }
  /// False when the node was there before.
  bool add(uint32_t node) {
    uint64_t& word = words_[node >> 6];
    const uint64_t mark = uint64_t{1} << (node & 63);
    const bool fresh = (word & mark) == 0;
    word |= mark;
    return fresh;
  }
  bool has(uint32_t node) const { return (words_[node >> 6] >> (node & 63) & 1) != 0; }

 private:
  std::vector<uint64_t> words_;
};

/// Candidates on the levels above level 0. A single candidate gets stuck in the wrong cluster. A query
/// between two clusters needs candidates of both, although each may have more nodes than the queue holds.
using DescentQueue = CandidateQueue<32, 16>;

/// Memory that a thread reuses from search to search.
struct GraphScratch {
  DescentQueue queue;
  VisitedSet visited;
  std::vector<Candidate> entryPoints;
  /// The entry points that a walk follows uphill if it ended elsewhere.
  std::vector<Candidate> ascents;
  /// The nodes that a walk has to expand: a heap with the best estimate on top.
  std::vector<Candidate> frontier;
  /// The best estimates of members in a walk: a heap with the lowest on top.
  std::vector<float> best;
};

/// The goal of a walk over level 0, and when it stops.
struct WalkParameters {
  /// Members wanted; at least 1.
  size_t limit;
  /// The walk ends when the distance of every node to expand, one minus its estimate, is larger than that of
  /// the `limit`-th best member by this share of it. So the effort adapts to the query. Well separated
  /// neighbours end a walk early, and crowded neighbours keep it going. For a query far from the data, the
  /// paths to its neighbours lead through more distant nodes.
  float window;
  /// Estimates after which the walk gives up.
  uint64_t maxEstimates;
  /// Nodes that the walk treats as if they were not in the graph. For measurements.
  uint32_t hidden[2] = {NONE, NONE};
};

/// Work of a walk.
struct WalkWork {
  uint64_t estimates = 0;
  uint64_t expansions = 0;
};

class Graph {
 public:
  /// Copies a graph (or starts from null), inserts the nodes up to `nodes` and makes all of them
  /// reachable, in `threads` threads of which this one is the first. Returns null when `cancelled`
  /// becomes true.
  static std::unique_ptr<const Graph> extend(const Graph* previous, const Codes& codes,
                                             uint32_t nodes, unsigned threads,
                                             const std::atomic<bool>& cancelled);

  /// Reads a graph of at most `nodes` nodes from a file with the output of `serialized`. Throws for any other
  /// input.
  static std::unique_ptr<const Graph> open(std::unique_ptr<Slab> file, uint32_t nodes);
  std::string serialized() const;

  /// Nodes [0, size) are in the graph.
  uint32_t size() const { return links_.size(); }

  /// Finds the members (`isMember(node)`) nearest to a query and fills `found` with the members that may be
  /// among the `limit` best. Their estimates are upper bounds. Returns false if the walk gave up. The definition
  /// is in graph/walk.hpp.
  template <typename IsMember>
  bool walk(const Codes& codes, const QuantizedQuery& query, const WalkParameters& parameters,
            IsMember isMember, GraphScratch& scratch, std::vector<Candidate>& found,
            WalkWork& work) const;

  uint64_t bytes() const { return links_.bytes(); }

  /// Only for the thread that writes a snapshot, of which there is one at a time.
  mutable SnapshotFile file;

 private:
  template <typename IsMember>
  class Walk;

  explicit Graph(LinkTable&& links) : links_(std::move(links)) {}

  class Insertion;
  class Repair;

  /// Searches the levels above level 0 and leaves entry points for it in the scratch.
  void descend(const Codes& codes, const QuantizedQuery& query, GraphScratch& scratch) const;
  /// Chooses the ascents among the entry points, which are ranks of level 1, and makes all of them nodes.
  void chooseAscents(GraphScratch& scratch) const;
  /// Searches one of these levels from the entry points, as far as `window` below the best estimate, and
  /// leaves the candidates in the queue.
  void searchLevel(const Codes& codes, const QuantizedQuery& query, uint32_t level, float window,
                   GraphScratch& scratch) const;

  LinkTable links_;
};

}  // namespace tessera
