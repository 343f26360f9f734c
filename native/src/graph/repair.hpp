// The repair of a graph after nodes were inserted into it.
//
// USearch descends to the place of a new node with a single candidate, which may end among the wrong
// neighbours. A full list of links drops links that its heuristic finds redundant, which may be the only
// path to a node. So the repair searches for each new node once, as for a query. A node that this search
// misses is linked with the nodes where the search ended. A search for a node itself finds a node with few
// incoming links, but queries from elsewhere miss it. So near nodes get links to it.
#pragma once
#include <span>

#include "graph/graph.hpp"

namespace tessera {

class Graph::Repair {
 public:
  Repair(Graph& graph, const Codes& codes, const std::atomic<bool>& cancelled);

  /// Makes the inserted nodes and the nodes that lost links reachable. @param inserted nodes in order of insertion
  void run(std::span<const uint32_t> inserted, unsigned threads);

 private:
  /// A node with few incoming links, and the nodes that will link to it, nearest first.
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
  /// Searches for one suspect after the other.
  void searchAll(Searcher& searcher);
  /// Makes the node the query of the next searches.
  void aim(Searcher& searcher, uint32_t node) const;
  /// Searches for a node with at most `maxEstimates`. Returns false if the walk misses it.
  bool finds(Searcher& searcher, uint32_t node, uint64_t maxEstimates) const;
  /// Keeps the `count` found nodes that are nearest to a node, nearest first.
  void keepNearest(std::vector<Candidate>& found, uint32_t node, size_t count) const;
  /// Links a node with the nearest nodes where a search for it ends.
  void reconnect(Searcher& searcher, uint32_t node);
  /// Adds a link on level 0. If the list is full and `replaces` is true, the new link replaces the link to the
  /// node with the most incoming links.
  void link(uint32_t from, uint32_t to, bool replaces);

  Graph& graph_;
  const Codes& codes_;
  const std::atomic<bool>& cancelled_;
  /// Number of incoming links of each node on level 0.
  std::vector<uint32_t> incoming_;
  std::vector<uint32_t> suspects_;
  std::atomic<size_t> next_{0};
};

}  // namespace tessera
