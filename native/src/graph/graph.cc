#include "graph/graph.hpp"

#include <cstring>
#include <stdexcept>

#include "common/prefetch.hpp"
#include "graph/in_threads.hpp"
#include "graph/repair.hpp"

namespace tessera {

/// Candidates of an insertion.
static constexpr size_t EF_CONSTRUCTION = 128;
/// Candidates on the levels above level 0. A single one gets stuck in the wrong cluster, and a query
/// between two clusters needs some of each.
static constexpr size_t EF_DESCENT = 32;
/// Nodes that one thread inserts before others join. Insertions do not see each other, which matters
/// only in a tiny graph.
static constexpr uint32_t SERIAL_NODES = 1024;
/// More levels than a graph of any size has.
static constexpr uint64_t MAX_LEVEL = 32;

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

Graph::Graph(Links&& links, std::unique_ptr<Slab> mapped)
    : mapped_(std::move(mapped)), links_(std::move(links)) {
  bytes_ = size() * sizeof(void*) + links_.serialized_length();
  const size_t top = links_.max_level();
  while (links_.level_of(entry_) < top) entry_++;
}

/// The insertion of nodes into one graph by several threads.
class Graph::Insertion {
 public:
  Insertion(Links& links, const Codes& codes, const std::atomic<bool>& cancelled)
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

  Links& links_;
  const Codes& codes_;
  const std::atomic<bool>& cancelled_;
  std::atomic<size_t> inserted_;
  std::atomic<bool> failed_{false};
};

std::unique_ptr<const Graph> Graph::extend(const Graph* previous, const Codes& codes,
                                           uint32_t nodes, unsigned threads,
                                           const std::atomic<bool>& cancelled) {
  using namespace unum::usearch;
  auto created = previous ? previous->links_.copy().index : Links::make(index_config_t{M, M0}).index;
  Links links = std::move(created);
  if (!links.try_reserve(index_limits_t{nodes, threads})) throw std::bad_alloc();
  const auto first = static_cast<uint32_t>(links.size());
  Insertion insertion(links, codes, cancelled);
  insertion.run(std::min(nodes, SERIAL_NODES), 0);
  inThreads(threads, [&](unsigned thread) { insertion.run(nodes, thread); });
  if (insertion.failed()) throw std::bad_alloc();
  if (cancelled) return nullptr;
  std::unique_ptr<Graph> graph(new Graph(std::move(links), nullptr));
  Repair(*graph, codes, cancelled).run(first, threads);
  return cancelled ? nullptr : std::move(graph);
}

void Graph::descend(const Codes& codes, const QuantizedQuery& query, GraphScratch& scratch) const {
  const uint8_t* entryCode = codes.codes1Bit.row(entry_);
  float estimate;
  codes.quantizer.estimate1Bit(query, &entryCode, 1, &estimate);
  scratch.entryPoints.assign(1, Candidate{estimate, entry_, false});
  for (auto level = static_cast<uint32_t>(links_.max_level()); level > 0; level--) {
    searchLevel(codes, query, level, EF_DESCENT, scratch);
    const std::vector<Candidate>& found = scratch.queue.entries();
    scratch.entryPoints.assign(found.begin(), found.end());
  }
}

void Graph::searchLevel(const Codes& codes, const QuantizedQuery& query, uint32_t level, size_t ef,
                        GraphScratch& scratch) const {
  CandidateQueue& queue = scratch.queue;
  scratch.visited.assign((size_t{size()} + 63) / 64, 0);
  uint64_t* visited = scratch.visited.data();
  const auto visit = [&](uint32_t node) {
    uint64_t& word = visited[node >> 6];
    const uint64_t mark = uint64_t{1} << (node & 63);
    const bool fresh = (word & mark) == 0;
    word |= mark;
    return fresh;
  };

  queue.reset(ef);
  for (const Candidate& point : scratch.entryPoints) {
    visit(point.node);
    queue.offer(point.estimate, point.node);
  }
  while (const Candidate* candidate = queue.expandNext()) {
    uint32_t nodes[M];
    const uint8_t* rows[M];
    float estimates[M];
    size_t count = 0;
    const auto neighbours = links_.neighbors(candidate->node, level);
    for (auto link = neighbours.begin(); link != neighbours.end(); ++link) {
      if (!visit(link.slot())) continue;
      nodes[count] = link.slot();
      rows[count] = codes.codes1Bit.row(link.slot());
      prefetch(rows[count++], codes.codes1Bit.rowBytes());
    }
    // The next candidate rarely changes with the estimates of these neighbours.
    if (const Candidate* next = queue.peekNext()) prefetchLinks(next->node);
    codes.quantizer.estimate1Bit(query, rows, count, estimates);
    for (size_t i = 0; i < count; i++) queue.offer(estimates[i], nodes[i]);
  }
}

void Graph::prefetchLinks(uint32_t node) const {
  prefetch(links_.at(node).key.ptr(), links_.neighbors_base_bytes());
}

static void require(bool valid) {
  if (!valid) throw std::runtime_error("a link of the graph leads nowhere");
}

/// Checks what USearch reads before there are nodes to ask for. Returns the level of each node.
static std::vector<int16_t> checkedLevels(const Slab& file, uint32_t nodes) {
  unum::usearch::index_serialized_header_t header;
  require(file.capacity() >= sizeof header);
  std::memcpy(&header, file.data(), sizeof header);
  require(header.connectivity == M && header.connectivity_base == M0 && header.size > 0 &&
          header.size <= nodes && header.max_level <= MAX_LEVEL);
  require(header.entry_slot < header.size);
  std::vector<int16_t> levels(header.size);
  require((file.capacity() - sizeof header) / sizeof levels[0] >= levels.size());
  std::memcpy(levels.data(), file.data() + sizeof header, levels.size() * sizeof levels[0]);
  const auto highest = static_cast<int16_t>(header.max_level);
  for (const int16_t level : levels) require(level >= 0 && level <= highest);
  require(levels[header.entry_slot] == highest);
  return levels;
}

std::unique_ptr<const Graph> Graph::open(std::unique_ptr<Slab> file, uint32_t nodes) {
  const std::vector<int16_t> levels = checkedLevels(*file, nodes);
  Links links = Links::make(unum::usearch::index_config_t{M, M0}).index;
  char* data = reinterpret_cast<char*>(file->data());
  require(static_cast<bool>(
      links.view(unum::usearch::memory_mapped_file_t(data, file->capacity()))));
  for (uint32_t node = 0; node < levels.size(); node++) {
    require(static_cast<int16_t>(links.level_of(node)) == levels[node]);
  }
  const SnapshotFile known = file->file;
  std::unique_ptr<Graph> graph(new Graph(std::move(links), std::move(file)));
  graph->check();
  graph->file = known;
  return graph;
}

std::string Graph::serialized() const {
  std::string bytes;
  bytes.reserve(links_.serialized_length());
  links_.save_to_stream([&](const void* data, size_t length) {
    bytes.append(static_cast<const char*>(data), length);
    return true;
  });
  return bytes;
}

void Graph::check() const {
  for (uint32_t node = 0; node < size(); node++) {
    for (size_t level = 0; level <= links_.level_of(node); level++) {
      const auto neighbours = links_.neighbors(node, level);
      require(neighbours.size() <= (level == 0 ? M0 : M));
      for (auto link = neighbours.begin(); link != neighbours.end(); ++link) {
        require(link.slot() < size() && links_.level_of(link.slot()) >= level);
      }
    }
  }
}

}  // namespace tessera
