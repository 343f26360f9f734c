#include "graph/graph.hpp"

#include <algorithm>
#include <numeric>

#include "common/prefetch.hpp"
#include "graph/in_threads.hpp"
#include "graph/insertion_order.hpp"
#include "graph/repair.hpp"
#include "graph/usearch_links.hpp"

namespace tessera {

/// USearch's `expansion_add`: candidates of an insertion.
static constexpr size_t EF_CONSTRUCTION = 128;
/// Candidates this far below the best are not expanded on the levels above level 0. The unit is the product
/// of the lengths of the two residuals, the most that they can add to a similarity. For a query in one
/// cluster, the nodes of other clusters are farther below. For a query between two clusters, the nodes of
/// both are within the window.
static constexpr float DESCENT_WINDOW = 0.4f;
/// Share of that window within which candidates are near the best: the nodes of a query's own cluster.
static constexpr float NEAR_SHARE = 0.5f;
/// Minimum number of candidates that are expanded on each of these levels.
static constexpr uint32_t MIN_EXPANSIONS = 4;
/// Candidates whose neighbours are estimated together, so that memory is read ahead.
static constexpr uint32_t EXPANDED_TOGETHER = 4;
/// Nodes that one thread inserts before others join. Insertions do not see each other, which matters
/// only in a tiny graph.
static constexpr size_t SERIAL_NODES = 1024;

namespace {

/// The number of leading groups whose nodes together are at most this many.
size_t groupsWithin(const InsertionOrder& order, size_t nodes) {
  const auto end = std::upper_bound(order.ends.begin(), order.ends.end(), nodes);
  return static_cast<size_t>(end - order.ends.begin());
}

/// The nodes that USearch compares. It knows those of the graph by their slots, places in the order of insertion.
struct NodeOf {
  const Codes& codes;
  const std::vector<uint32_t>& nodeOfSlot;

  uint32_t operator()(const uint32_t* node) const { return *node; }
  template <typename Member>
  uint32_t operator()(const Member& member) const {
    return nodeOfSlot[get_slot(member)];
  }
};

/// The value that USearch minimises: the negative estimate of the similarity.
struct CodeDistance {
  NodeOf nodeOf;

  template <typename A, typename B>
  float operator()(const A& a, const B& b) const {
    const Codes& codes = nodeOf.codes;
    return -codes.quantizer.estimatePair(codes.code3Bit(nodeOf(a)), codes.code3Bit(nodeOf(b)));
  }
};

struct PrefetchCodes {
  NodeOf nodeOf;

  template <typename Iterator>
  void operator()(Iterator begin, Iterator end) const {
    for (; begin != end; ++begin) nodeOf.codes.prefetch3Bit(nodeOf(begin));
  }
};

}  // namespace

/// The insertion of nodes into one graph by several threads.
class Graph::Insertion {
 public:
  Insertion(UsearchLinks& links, const Codes& codes, const InsertionOrder& order,
            const std::atomic<bool>& cancelled)
      : links_(links), codes_(codes), order_(order), cancelled_(cancelled) {
    nodeOf_.resize(links.size() + order.nodes.size());
    std::iota(nodeOf_.begin(), nodeOf_.begin() + static_cast<ptrdiff_t>(links.size()), 0u);
  }

  /// Inserts groups, one at a time, until the first `groups` of the order are taken. Ends early when it is
  /// cancelled or memory runs out.
  void run(size_t groups, unsigned thread) {
    for (size_t group = next_; group < groups; group = next_) {
      if (!next_.compare_exchange_weak(group, group + 1)) continue;
      const size_t begin = group == 0 ? 0 : order_.ends[group - 1];
      for (size_t i = begin; i < order_.ends[group]; i++) {
        if (cancelled_.load(std::memory_order_relaxed) || failed_) return;
        insert(order_.nodes[i], thread);
      }
    }
  }

  bool failed() const { return failed_; }
  /// The node of each slot.
  const std::vector<uint32_t>& nodeOf() const { return nodeOf_; }

 private:
  void insert(uint32_t node, unsigned thread) {
    // USearch chooses the slot, and only then compares the node with others.
    const auto noteSlot = [&](const auto& member) { nodeOf_[member.slot] = node; };
    const NodeOf nodeOf{codes_, nodeOf_};
    auto result = links_.add(0, static_cast<const uint32_t*>(&node), CodeDistance{nodeOf},
                             unum::usearch::index_update_config_t{EF_CONSTRUCTION, thread},
                             noteSlot, PrefetchCodes{nodeOf});
    // The destructor rethrows an unhandled error, which terminates the process.
    if (!result && result.error.release() != nullptr) failed_ = true;
  }

  UsearchLinks& links_;
  const Codes& codes_;
  const InsertionOrder& order_;
  std::vector<uint32_t> nodeOf_;
  const std::atomic<bool>& cancelled_;
  std::atomic<size_t> next_{0};
  std::atomic<bool> failed_{false};
};

std::unique_ptr<const Graph> Graph::extend(const Graph* previous, const Codes& codes,
                                           uint32_t nodes, unsigned threads,
                                           const std::atomic<bool>& cancelled) {
  const uint32_t first = previous ? previous->size() : 0;
  const InsertionOrder order = insertionOrder(codes, first, nodes, threads, cancelled);
  if (cancelled) return nullptr;
  UsearchLinks links = usearchLinksOf(previous ? &previous->links_ : nullptr);
  if (!links.try_reserve(unum::usearch::index_limits_t{nodes, threads})) throw std::bad_alloc();
  Insertion insertion(links, codes, order, cancelled);
  if (first == 0) insertion.run(groupsWithin(order, SERIAL_NODES), 0);
  inThreads(threads, [&](unsigned thread) { insertion.run(order.ends.size(), thread); });
  if (insertion.failed()) throw std::bad_alloc();
  if (cancelled) return nullptr;
  std::unique_ptr<Graph> graph(new Graph(linkTableOf(links, insertion.nodeOf())));
  links.reset();
  Repair(*graph, codes, cancelled).run(order.nodes, threads);
  return cancelled ? nullptr : std::move(graph);
}

void Graph::descend(const Codes& codes, const QuantizedQuery& query, GraphScratch& scratch) const {
  const uint32_t top = links_.topLevel();
  const uint32_t entry = top == 0 ? 0 : links_.nodesOf(top)[0];
  const uint8_t* code = codes.codes1Bit.row(entry);
  float estimate;
  codes.quantizer.estimate1Bit(query, &code, 1, &estimate);
  if (top == 0) {
    scratch.entryPoints.assign(1, Candidate{estimate, entry});
    scratch.ascents = scratch.entryPoints;
    return;
  }
  const float window = DESCENT_WINDOW * query.residualLength *
                       codes.quantizer.residualLengthPerScale() *
                       codes.quantizer.factors1Bit(code).scale;
  // On the levels above level 0, candidates are ranks.
  scratch.entryPoints.assign(1, Candidate{estimate, 0});
  for (uint32_t level = top; level > 0; level--) {
    searchLevel(codes, query, level, window, scratch);
    scratch.entryPoints.clear();
    for (uint32_t i = 0; i < scratch.queue.size(); i++) {
      scratch.entryPoints.push_back(scratch.queue[i]);
    }
  }
  chooseAscents(scratch);
}

/// Skips an entry point that is near the best and links to a better one: both lead to the same nodes.
void Graph::chooseAscents(GraphScratch& scratch) const {
  const std::span<const uint32_t> nodes = links_.nodesOf(1);
  const float leastNear = scratch.queue.leastNear();
  scratch.ascents.clear();
  scratch.visited.reset(nodes.size());
  // Entry points are sorted best first, so each visited one is better.
  for (Candidate& point : scratch.entryPoints) {
    const uint32_t* links = links_.upper(1, point.node);
    const bool hasBetter = std::any_of(links, links + countLinks(links, M), [&](uint32_t rank) {
      return scratch.visited.has(rank);
    });
    scratch.visited.add(point.node);
    point.node = nodes[point.node];
    if (!hasBetter || point.estimate < leastNear) scratch.ascents.push_back(point);
  }
}

void Graph::searchLevel(const Codes& codes, const QuantizedQuery& query, uint32_t level,
                        float window, GraphScratch& scratch) const {
  const std::span<const uint32_t> nodes = links_.nodesOf(level);
  DescentQueue& queue = scratch.queue;
  VisitedSet& visited = scratch.visited;
  visited.reset(nodes.size());
  queue.clear(window * NEAR_SHARE);
  for (const Candidate& point : scratch.entryPoints) {
    visited.add(point.node);
    queue.offer(point.estimate, point.node);
  }
  for (;;) {
    uint32_t ranks[EXPANDED_TOGETHER * M + 1];
    const uint8_t* rows[EXPANDED_TOGETHER * M];
    float estimates[EXPANDED_TOGETHER * M];
    size_t count = 0;
    uint32_t expanded = 0, rank = 0;
    const float least =
        queue.expansions() < MIN_EXPANSIONS ? -1e30f : queue[0].estimate - window;
    while (expanded < EXPANDED_TOGETHER && queue.expandNext(least, rank)) {
      expanded++;
      const uint32_t* links = links_.upper(level, rank);
      for (uint32_t i = 0; i < M && links[i] != NONE; i++) {
        ranks[count] = links[i];
        count += visited.add(links[i]);
      }
    }
    if (expanded == 0) return;
    for (size_t i = 0; i < count; i++) {
      rows[i] = codes.codes1Bit.row(nodes[ranks[i]]);
      prefetch(rows[i], codes.codes1Bit.rowBytes());
    }
    codes.quantizer.estimate1Bit(query, rows, count, estimates);
    for (size_t i = 0; i < count; i++) queue.offer(estimates[i], ranks[i]);
  }
}

std::unique_ptr<const Graph> Graph::open(std::unique_ptr<Slab> file, uint32_t nodes) {
  std::unique_ptr<Graph> graph(new Graph(readLinks(*file, nodes)));
  graph->file = file->file;
  return graph;
}

std::string Graph::serialized() const { return serializedLinks(links_); }

}  // namespace tessera
