#include "graph.hpp"

#include <algorithm>
#include <stdexcept>

#include "prefetch.hpp"

namespace tessera {

/// Candidates that an insertion considers.
static constexpr size_t INSERT_EXPANSION = 96;
/// Candidates that are kept on the upper levels. One alone gets stuck in the wrong cluster.
static constexpr size_t DESCENT_EXPANSION = 16;

Graph::Graph(const Codebook& codebook, const Column& codes)
    : codebook_(codebook),
      codes_(codes),
      ground_(GROUND_LINKS * sizeof(Link), HOT_SLAB_ROW_BITS),
      upper_(UPPER_LINKS * sizeof(Link)) {}

/// The level of a node depends on its number alone, so that the same data makes the same graph. A
/// level has one node in 16 of the level below.
uint32_t Graph::levelOf(uint32_t node) {
  uint64_t bits = (uint64_t{node} + 1) * 0x9e3779b97f4a7c15ull;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ull;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebull;
  bits ^= bits >> 31;
  uint32_t level = 0;
  while (level < MAX_LEVEL && (bits & 15) == 0) {
    level++;
    bits >>= 4;
  }
  return level;
}

Graph::Entry Graph::entry() const {
  const uint64_t packed = entry_.load(std::memory_order_acquire);
  return {static_cast<uint32_t>(packed), static_cast<uint32_t>(packed >> 32)};
}

void Graph::takeSeeds(GraphScratch& scratch) {
  const std::vector<Candidate>& found = scratch.pool.entries();
  scratch.seeds.assign(found.begin(), found.end());
}

void Graph::descend(const CodedQuery& query, uint32_t toLevel, GraphScratch& scratch) const {
  const Entry start = entry();
  const uint8_t* startCode = code(start.node);
  float estimate;
  codebook_.estimate(query, &startCode, 1, &estimate);
  scratch.seeds.assign(1, Candidate{estimate, start.node, false});
  for (uint32_t level = start.level; level > toLevel; level--) {
    searchLevel(query, level, DESCENT_EXPANSION, scratch);
    takeSeeds(scratch);
  }
}

void Graph::searchLevel(const CodedQuery& query, uint32_t level, size_t expansion,
                        GraphScratch& scratch) const {
  Pool& pool = scratch.pool;
  // A node inserted meanwhile may be met though it is beyond `size`; one slab of slack holds a mark
  // for it, and what lies even further is left out.
  const uint32_t bound = size() + SLAB_ROWS;
  scratch.visited.assign((size_t{bound} + 63) / 64, 0);
  uint64_t* visited = scratch.visited.data();
  const auto visit = [&](uint32_t node) {
    uint64_t& word = visited[node >> 6];
    const uint64_t mark = uint64_t{1} << (node & 63);
    const bool fresh = (word & mark) == 0;
    word |= mark;
    return fresh;
  };

  pool.reset(expansion);
  for (const Candidate& seed : scratch.seeds) {
    visit(seed.node);
    pool.offer(seed.estimate, seed.node);
  }
  const size_t codeBytes = codes_.rowBytes();
  const uint32_t linkCountHere = linkCount(level);
  while (const Candidate* candidate = pool.expandNext()) {
    uint32_t nodes[GROUND_LINKS];
    const uint8_t* codes[GROUND_LINKS];
    float estimates[GROUND_LINKS];
    size_t count = 0;
    const Link* list = links(candidate->node, level);
    for (uint32_t i = 0; i < linkCountHere; i++) {
      const uint32_t node = list[i].load(std::memory_order_acquire);
      if (node >= bound || !visit(node)) continue;
      nodes[count] = node;
      codes[count] = code(node);
      prefetch(codes[count++], codeBytes);
    }
    // Most often the next to be expanded is known before this one's neighbours are.
    if (const Candidate* next = pool.peekNext()) {
      prefetch(links(next->node, level), linkCountHere * sizeof(Link));
    }
    codebook_.estimate(query, codes, count, estimates);
    for (size_t i = 0; i < count; i++) pool.offer(estimates[i], nodes[i]);
  }
}

void Graph::search(const CodedQuery& query, size_t expansion, GraphScratch& scratch) const {
  if (size() == 0) {
    scratch.pool.reset(expansion);
    return;
  }
  descend(query, 0, scratch);
  searchLevel(query, 0, expansion, scratch);
}

size_t Graph::selectDiverse(const std::vector<Candidate>& sorted, size_t wanted,
                            uint32_t* selected) const {
  size_t count = 0;
  for (const Candidate& candidate : sorted) {
    if (count == wanted) break;
    const uint8_t* mine = code(candidate.node);
    const bool diverse = std::none_of(selected, selected + count, [&](uint32_t other) {
      return codebook_.estimatePair(mine, code(other)) > candidate.estimate;
    });
    if (diverse) selected[count++] = candidate.node;
  }
  return count;
}

void Graph::linkBack(uint32_t from, uint32_t to, uint32_t level) {
  Link* list = links(from, level);
  const uint32_t capacity = linkCount(level);
  for (uint32_t i = 0; i < capacity; i++) {
    if (list[i].load(std::memory_order_relaxed) == NONE) {
      list[i].store(to, std::memory_order_release);
      return;
    }
  }
  rivals_.clear();
  const uint8_t* base = code(from);
  rivals_.push_back({codebook_.estimatePair(base, code(to)), to, false});
  for (uint32_t i = 0; i < capacity; i++) {
    const uint32_t node = list[i].load(std::memory_order_relaxed);
    rivals_.push_back({codebook_.estimatePair(base, code(node)), node, false});
  }
  std::sort(rivals_.begin(), rivals_.end(),
            [](const Candidate& a, const Candidate& b) { return a.estimate > b.estimate; });
  uint32_t selected[GROUND_LINKS];
  const size_t count = selectDiverse(rivals_, capacity, selected);
  for (uint32_t i = 0; i < capacity; i++) {
    list[i].store(i < count ? selected[i] : NONE, std::memory_order_release);
  }
}

void Graph::addNode(uint32_t node, uint32_t level) {
  ground_.ensure(node + 1);
  upperStart_.ensure(node + 1);
  upper_.ensure(upperRows_ + level);
  upperStart_.at(node) = upperRows_;
  upperRows_ += level;
  for (uint32_t l = 0; l <= level; l++) {
    for (uint32_t i = 0; i < linkCount(l); i++) {
      links(node, l)[i].store(NONE, std::memory_order_relaxed);
    }
  }
}

void Graph::insert(const CodedQuery& query, GraphScratch& scratch) {
  const uint32_t node = size_.load(std::memory_order_relaxed);
  const uint32_t level = levelOf(node);
  addNode(node, level);
  const Entry top = entry();
  if (node > 0) {
    descend(query, std::min(level, top.level), scratch);
    for (uint32_t l = std::min(level, top.level) + 1; l-- > 0;) {
      searchLevel(query, l, INSERT_EXPANSION, scratch);
      takeSeeds(scratch);
      std::vector<Candidate>& found = scratch.pool.entries();
      // `estimatePair` leaves out the constant of the query's side; so must what it is compared to.
      const float shift = codebook_.factors(code(node)).add - query.constant;
      for (Candidate& candidate : found) candidate.estimate += shift;
      uint32_t selected[GROUND_LINKS];
      const size_t count = selectDiverse(found, UPPER_LINKS, selected);
      for (size_t i = 0; i < count; i++) {
        links(node, l)[i].store(selected[i], std::memory_order_release);
      }
      for (size_t i = 0; i < count; i++) linkBack(selected[i], node, l);
    }
  }
  size_.store(node + 1, std::memory_order_release);
  if (node == 0 || level > top.level) {
    entry_.store(uint64_t{level} << 32 | node, std::memory_order_release);
  }
}

void Graph::check() const {
  const auto insist = [](bool fine) {
    if (!fine) throw std::runtime_error("the graph points nowhere");
  };
  const uint32_t nodes = size();
  for (uint32_t node = 0; node < nodes; node++) {
    const uint32_t level = levelOf(node);
    insist(upperStart_.at(node) <= upperRows_ && level <= upperRows_ - upperStart_.at(node));
  }
  for (uint32_t node = 0; node < nodes; node++) {
    for (uint32_t level = 0; level <= levelOf(node); level++) {
      for (uint32_t i = 0; i < linkCount(level); i++) {
        const uint32_t other = links(node, level)[i].load(std::memory_order_relaxed);
        insist(other == NONE || (other < nodes && levelOf(other) >= level));
      }
    }
  }
  const uint64_t entry = entry_.load();
  insist(nodes == 0 || (static_cast<uint32_t>(entry) < nodes &&
                        levelOf(static_cast<uint32_t>(entry)) == entry >> 32));
}

uint64_t Graph::bytes() const {
  return uint64_t{size()} * (ground_.rowBytes() + upperStart_.rowBytes()) +
         uint64_t{upperRows_} * upper_.rowBytes();
}

}  // namespace tessera
