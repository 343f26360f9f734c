#include "graph/graph.hpp"

#include "common/prefetch.hpp"
#include "graph/in_threads.hpp"
#include "graph/repair.hpp"
#include "graph/usearch_links.hpp"

namespace tessera {

/// Candidates of an insertion.
static constexpr size_t EF_CONSTRUCTION = 128;
/// Candidates this far below the best are not expanded on the levels above level 0, in the unit of a
/// WalkWindow. What a query in one cluster passes is farther below; what is between two clusters is not.
static constexpr float DESCENT_WINDOW = 0.4f;
/// Candidates that are expanded on each of these levels at least.
static constexpr uint32_t MIN_EXPANSIONS = 4;
/// Candidates whose neighbours are estimated together, so that memory is read ahead.
static constexpr uint32_t EXPANDED_TOGETHER = 4;
/// Nodes that one thread inserts before others join. Insertions do not see each other, which matters
/// only in a tiny graph.
static constexpr uint32_t SERIAL_NODES = 1024;

namespace {

/// What USearch minimises: the negative estimate of the similarity.
struct CodeDistance {
  const Codes& codes;

  const uint8_t* code(const uint32_t* node) const { return codes.codes4Bit.row(*node); }
  template <typename Member>
  const uint8_t* code(const Member& member) const {
    return codes.codes4Bit.row(get_slot(member));
  }
  template <typename A, typename B>
  float operator()(const A& a, const B& b) const {
    return -codes.quantizer.estimatePair(code(a), code(b));
  }
};

struct PrefetchCodes {
  const Column& codes;

  template <typename Iterator>
  void operator()(Iterator begin, Iterator end) const {
    for (; begin != end; ++begin) prefetch(codes.row(get_slot(begin)), codes.rowBytes());
  }
};

}  // namespace

/// The insertion of nodes into one graph by several threads.
class Graph::Insertion {
 public:
  Insertion(UsearchLinks& links, const Codes& codes, const std::atomic<bool>& cancelled)
      : links_(links), codes_(codes), cancelled_(cancelled), inserted_(links.size()) {}

  /// Inserts nodes until there are `nodes`, or there is no memory.
  void run(uint32_t nodes, unsigned thread) {
    while (!cancelled_.load(std::memory_order_relaxed) && !failed_ && take(nodes)) insertOne(thread);
  }

  bool failed() const { return failed_; }

 private:
  /// Reserves the place of a node. USearch must not be asked for more than it has places.
  bool take(size_t nodes) {
    size_t taken = inserted_;
    while (taken < nodes) {
      if (inserted_.compare_exchange_weak(taken, taken + 1)) return true;
    }
    return false;
  }

  void insertOne(unsigned thread) {
    uint32_t node = 0;
    // USearch numbers the node, and only then compares it with others.
    const auto noteSlot = [&](const auto& member) { node = member.slot; };
    auto result = links_.add(0, static_cast<const uint32_t*>(&node), CodeDistance{codes_},
                             unum::usearch::index_update_config_t{EF_CONSTRUCTION, thread},
                             noteSlot, PrefetchCodes{codes_.codes4Bit});
    // An error that nobody takes is thrown by its destructor, which would end the process here.
    if (!result && result.error.release() != nullptr) failed_ = true;
  }

  UsearchLinks& links_;
  const Codes& codes_;
  const std::atomic<bool>& cancelled_;
  std::atomic<size_t> inserted_;
  std::atomic<bool> failed_{false};
};

std::unique_ptr<const Graph> Graph::extend(const Graph* previous, const Codes& codes,
                                           uint32_t nodes, unsigned threads,
                                           const std::atomic<bool>& cancelled) {
  UsearchLinks links = usearchLinksOf(previous ? &previous->links_ : nullptr);
  if (!links.try_reserve(unum::usearch::index_limits_t{nodes, threads})) throw std::bad_alloc();
  const auto first = static_cast<uint32_t>(links.size());
  Insertion insertion(links, codes, cancelled);
  insertion.run(std::min(nodes, SERIAL_NODES), 0);
  inThreads(threads, [&](unsigned thread) { insertion.run(nodes, thread); });
  if (insertion.failed()) throw std::bad_alloc();
  if (cancelled) return nullptr;
  std::unique_ptr<Graph> graph(new Graph(linkTableOf(links)));
  links.reset();
  Repair(*graph, codes, cancelled).run(first, threads);
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
  for (Candidate& point : scratch.entryPoints) point.node = links_.nodesOf(1)[point.node];
}

void Graph::searchLevel(const Codes& codes, const QuantizedQuery& query, uint32_t level,
                        float window, GraphScratch& scratch) const {
  const std::span<const uint32_t> nodes = links_.nodesOf(level);
  DescentQueue& queue = scratch.queue;
  VisitedSet& visited = scratch.visited;
  visited.reset(nodes.size());
  queue.clear();
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
