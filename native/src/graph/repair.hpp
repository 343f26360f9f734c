// The repair of a graph after nodes were inserted into it.
//
// USearch descends to the place of a new node with a single candidate, which may end among the wrong
// neighbours, and a full list of links drops those that its heuristic finds redundant, which may be the
// only way to a node. So each new node is searched for once, as a query would be. A node that this search
// misses is linked with the nodes where the search ended. A node to which few others link is found by a search
// for itself, but missed by queries that come from elsewhere, so near nodes get links to it.
#pragma once
#include <span>

#include "graph/graph.hpp"

namespace tessera {

class Graph::Repair {
 public:
  Repair(Graph& graph, const Codes& codes, const std::atomic<bool>& cancelled);

  /// Makes the last nodes, which were inserted in this order, reachable, and those that lost links.
  void run(std::span<const uint32_t> inserted, unsigned threads);

 private:
  /// A node to which few others link, and those that are to link to it, nearest first.
  struct Poor {
    uint32_t node;
    std::vector<uint32_t> sources;
  };

  /// Memory of one thread.
  struct Searcher {
    QuantizedQuery query;
    GraphScratch scratch;
    std::vector<Candidate> found;
    /// Nodes that a search missed.
    std::vector<uint32_t> missed;
    std::vector<Poor> poor;
  };

  void countIncoming();
  /// Takes one suspect after the other and searches for it, until none is left.
  void searchAll(Searcher& searcher);
  /// Makes the node the query of the searches that follow.
  void aim(Searcher& searcher, uint32_t node) const;
  /// Searches for a node with at most `maxEstimates`; false if the walk does not see it.
  bool finds(Searcher& searcher, uint32_t node, uint64_t maxEstimates) const;
  /// Keeps those of the nodes found that are nearest to a node, nearest first.
  void keepNearest(std::vector<Candidate>& found, uint32_t node, size_t count) const;
  /// Links a node with the nearest of those that a search for it ends at.
  void reconnect(Searcher& searcher, uint32_t node);
  /// Adds a link on level 0. A full list gives up the link to the node that most others link to, if it
  /// `replaces` one.
  void link(uint32_t from, uint32_t to, bool replaces);

  Graph& graph_;
  const Codes& codes_;
  const std::atomic<bool>& cancelled_;
  /// Links on level 0 that lead to each node.
  std::vector<uint32_t> incoming_;
  std::vector<uint32_t> suspects_;
  std::atomic<size_t> next_{0};
};

}  // namespace tessera
