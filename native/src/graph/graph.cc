#include "graph/graph.hpp"

#include <algorithm>
#include <stdexcept>

#include "common/limits.hpp"
#include "common/prefetch.hpp"

namespace tessera {

/// Candidates of an insertion.
static constexpr size_t EF_CONSTRUCTION = 160;
/// Candidates on the levels above the target. A single one gets stuck in the wrong cluster.
static constexpr size_t EF_DESCENT = 16;

Graph::Graph(const RabitqQuantizer& quantizer, const Column& codes1Bit, const Column& codes4Bit)
    : quantizer_(quantizer),
      codes1Bit_(codes1Bit),
      codes4Bit_(codes4Bit),
      layer0_(M0 * sizeof(Link), HOT_SLAB_ROW_BITS),
      upperLayers_(M * sizeof(Link)) {}

/// The level of a node depends only on its number, so the same data always gives the same graph.
/// Each level has one in 16 nodes of the level below.
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

void Graph::useAsEntryPoints(GraphScratch& scratch) {
  const std::vector<Candidate>& found = scratch.queue.entries();
  scratch.entryPoints.assign(found.begin(), found.end());
}

void Graph::descend(const QuantizedQuery& query, uint32_t toLevel, GraphScratch& scratch) const {
  const Entry start = entry();
  const uint8_t* startCode = code(start.node);
  float estimate;
  quantizer_.estimate1Bit(query, &startCode, 1, &estimate);
  scratch.entryPoints.assign(1, Candidate{estimate, start.node, false});
  for (uint32_t level = start.level; level > toLevel; level--) {
    searchLevel(query, level, EF_DESCENT, scratch);
    useAsEntryPoints(scratch);
  }
}

void Graph::searchLevel(const QuantizedQuery& query, uint32_t level, size_t ef,
                        GraphScratch& scratch) const {
  CandidateQueue& queue = scratch.queue;
  // The search may meet nodes beyond `size` that are inserted meanwhile. One slab of slack has
  // marks for them; nodes even further are ignored.
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

  queue.reset(ef);
  for (const Candidate& point : scratch.entryPoints) {
    visit(point.node);
    queue.offer(point.estimate, point.node);
  }
  const size_t codeBytes = codes1Bit_.rowBytes();
  const uint32_t linkCountHere = linkCount(level);
  while (const Candidate* candidate = queue.expandNext()) {
    uint32_t nodes[M0];
    const uint8_t* codes[M0];
    float estimates[M0];
    size_t count = 0;
    const Link* list = links(candidate->node, level);
    for (uint32_t i = 0; i < linkCountHere; i++) {
      const uint32_t node = list[i].load(std::memory_order_acquire);
      if (node >= bound || !visit(node)) continue;
      nodes[count] = node;
      codes[count] = code(node);
      prefetch(codes[count++], codeBytes);
    }
    // The next candidate rarely changes with the estimates of these neighbours.
    if (const Candidate* next = queue.peekNext()) {
      prefetch(links(next->node, level), linkCountHere * sizeof(Link));
    }
    quantizer_.estimate1Bit(query, codes, count, estimates);
    for (size_t i = 0; i < count; i++) queue.offer(estimates[i], nodes[i]);
  }
}

void Graph::sortBy4BitCodes(const QuantizedQuery& query, std::vector<Candidate>& candidates) const {
  for (const Candidate& entry : candidates) {
    prefetch(codes4Bit_.row(entry.node), codes4Bit_.rowBytes());
  }
  for (Candidate& entry : candidates) {
    entry.estimate = quantizer_.estimate4Bit(query, codes4Bit_.row(entry.node));
  }
  std::sort(candidates.begin(), candidates.end(),
            [](const Candidate& a, const Candidate& b) { return a.estimate > b.estimate; });
}

size_t Graph::selectNeighbours(const std::vector<Candidate>& sorted, size_t wanted,
                               uint32_t* selected) {
  size_t count = 0;
  for (const Candidate& candidate : sorted) {
    if (count == wanted) break;
    const uint8_t* code = codes4Bit_.row(candidate.node);
    const auto end = selectedQueries_.begin() + static_cast<ptrdiff_t>(count);
    const bool diverse =
        std::none_of(selectedQueries_.begin(), end, [&](const QuantizedQuery& other) {
          return quantizer_.estimate4Bit(other, code) > candidate.estimate;
        });
    if (!diverse) continue;
    quantizer_.queryFrom4BitCode(code, selectedQueries_[count]);
    selected[count++] = candidate.node;
  }
  return count;
}

void Graph::addReverseLink(uint32_t from, uint32_t to, uint32_t level) {
  Link* list = links(from, level);
  const uint32_t capacity = linkCount(level);
  for (uint32_t i = 0; i < capacity; i++) {
    if (list[i].load(std::memory_order_relaxed) == NONE) {
      list[i].store(to, std::memory_order_release);
      return;
    }
  }
  neighbours_.assign(1, {0, to, false});
  for (uint32_t i = 0; i < capacity; i++) {
    neighbours_.push_back({0, list[i].load(std::memory_order_relaxed), false});
  }
  quantizer_.queryFrom4BitCode(codes4Bit_.row(from), listOwner_);
  sortBy4BitCodes(listOwner_, neighbours_);
  uint32_t selected[M0];
  const size_t count = selectNeighbours(neighbours_, capacity, selected);
  for (uint32_t i = 0; i < capacity; i++) {
    list[i].store(i < count ? selected[i] : NONE, std::memory_order_release);
  }
}

void Graph::addNode(uint32_t node, uint32_t level) {
  layer0_.ensure(node + 1);
  upperStart_.ensure(node + 1);
  upperLayers_.ensure(upperRows_ + level);
  upperStart_.at(node) = upperRows_;
  upperRows_ += level;
  for (uint32_t l = 0; l <= level; l++) {
    for (uint32_t i = 0; i < linkCount(l); i++) {
      links(node, l)[i].store(NONE, std::memory_order_relaxed);
    }
  }
}

void Graph::insert(const QuantizedQuery& query, GraphScratch& scratch) {
  const uint32_t node = size_.load(std::memory_order_relaxed);
  const uint32_t level = levelOf(node);
  addNode(node, level);
  const Entry top = entry();
  if (node > 0) {
    // Selection compares similarities to the new node with similarities among its neighbours, so both
    // must have the errors of 4-bit codes. The query itself is too exact.
    quantizer_.queryFrom4BitCode(codes4Bit_.row(node), inserted_);
    descend(query, std::min(level, top.level), scratch);
    for (uint32_t l = std::min(level, top.level) + 1; l-- > 0;) {
      searchLevel(query, l, EF_CONSTRUCTION, scratch);
      useAsEntryPoints(scratch);
      std::vector<Candidate>& found = scratch.queue.entries();
      sortBy4BitCodes(inserted_, found);
      uint32_t selected[M0];
      const size_t count = selectNeighbours(found, M, selected);
      for (size_t i = 0; i < count; i++) {
        links(node, l)[i].store(selected[i], std::memory_order_release);
      }
      for (size_t i = 0; i < count; i++) addReverseLink(selected[i], node, l);
    }
  }
  size_.store(node + 1, std::memory_order_release);
  if (node == 0 || level > top.level) {
    entry_.store(uint64_t{level} << 32 | node, std::memory_order_release);
  }
}

void Graph::check() const {
  const auto require = [](bool valid) {
    if (!valid) throw std::runtime_error("a link of the graph leads nowhere");
  };
  const uint32_t nodes = size();
  for (uint32_t node = 0; node < nodes; node++) {
    const uint32_t level = levelOf(node);
    require(upperStart_.at(node) <= upperRows_ && level <= upperRows_ - upperStart_.at(node));
  }
  for (uint32_t node = 0; node < nodes; node++) {
    for (uint32_t level = 0; level <= levelOf(node); level++) {
      for (uint32_t i = 0; i < linkCount(level); i++) {
        const uint32_t other = links(node, level)[i].load(std::memory_order_relaxed);
        require(other == NONE || (other < nodes && levelOf(other) >= level));
      }
    }
  }
  const uint64_t entry = entry_.load();
  require(nodes == 0 || (static_cast<uint32_t>(entry) < nodes &&
                        levelOf(static_cast<uint32_t>(entry)) == entry >> 32));
}

uint64_t Graph::bytes() const {
  return uint64_t{size()} * (layer0_.rowBytes() + upperStart_.rowBytes()) +
         uint64_t{upperRows_} * upperLayers_.rowBytes();
}

}  // namespace tessera
