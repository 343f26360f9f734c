#include "graph/repair.hpp"

#include <algorithm>

#include "graph/in_threads.hpp"
#include "graph/walk.hpp"

namespace tessera {

/// The window of the search for a node. It is narrower than that of most queries, so that they reach the node too.
static constexpr float WINDOW = 0.07f;
/// Members that the search for a node wants.
static constexpr size_t LIMIT = 10;
/// Estimates of the first search, which finds most nodes. Only the others are searched for to the end.
static constexpr uint64_t FIRST_ESTIMATES = 384;
/// Estimates after which a search for a node gives up. Searches in a usable graph need far fewer.
static constexpr uint64_t MAX_ESTIMATES = 1 << 15;
/// Nodes that a missed node is linked with, both ways.
static constexpr size_t NEW_LINKS = 4;
/// Candidates from which 3-bit codes choose these nodes.
static constexpr size_t LINK_CANDIDATES = 48;
/// A link is replaced only if its node has at least this many incoming links.
static constexpr uint32_t MIN_INCOMING_TO_SPARE = 4;
/// Incoming links of each node, if the lists of near nodes have free places. With fewer, questions miss a node whose
/// neighbours are less similar to them than the node. With more, all walks estimate more nodes.
static constexpr uint32_t MIN_INCOMING = M0 / 2;

Graph::Repair::Repair(Graph& graph, const Codes& codes, const std::atomic<bool>& cancelled)
    : graph_(graph), codes_(codes), cancelled_(cancelled), incoming_(graph.size(), 0) {}

void Graph::Repair::run(std::span<const uint32_t> inserted, unsigned threads) {
  countIncoming();
  suspects_.assign(inserted.begin(), inserted.end());
  for (uint32_t node = 0; node < graph_.size() - inserted.size(); node++) {
    if (incoming_[node] < MIN_INCOMING) suspects_.push_back(node);
  }
  std::vector<Searcher> searchers(threads);
  inThreads(threads, [&](unsigned thread) { searchAll(searchers[thread]); });
  for (const Searcher& searcher : searchers) {
    for (const uint32_t node : searcher.missed) reconnect(searchers[0], node);
  }
  for (const Searcher& searcher : searchers) {
    for (const auto& [node, sources] : searcher.poor) {
      for (size_t i = 0; i < sources.size() && incoming_[node] < MIN_INCOMING; i++) {
        link(sources[i], node, false);
      }
    }
  }
}

void Graph::Repair::countIncoming() {
  for (uint32_t node = 0; node < graph_.size(); node++) {
    const uint32_t* links = graph_.links_.base(node);
    for (uint32_t i = 0; i < M0 && links[i] != NONE; i++) incoming_[links[i]]++;
  }
}

void Graph::Repair::searchAll(Searcher& searcher) {
  while (!cancelled_.load(std::memory_order_relaxed)) {
    const size_t i = next_++;
    if (i >= suspects_.size()) return;
    const uint32_t node = suspects_[i];
    aim(searcher, node);
    if (!finds(searcher, node, FIRST_ESTIMATES) && !finds(searcher, node, MAX_ESTIMATES)) {
      searcher.missed.push_back(node);
    } else if (incoming_[node] < MIN_INCOMING) {
      keepNearest(searcher.found, node, LINK_CANDIDATES);
      Poor& poor = searcher.poor.emplace_back(Poor{node, {}});
      for (const Candidate& candidate : searcher.found) poor.sources.push_back(candidate.node);
    }
  }
}

void Graph::Repair::aim(Searcher& searcher, uint32_t node) const {
  codes_.quantizer.encodeCodeAsQuery(codes_.code3Bit(node), searcher.query);
}

bool Graph::Repair::finds(Searcher& searcher, uint32_t node, uint64_t maxEstimates) const {
  bool seen = false;
  const auto isMember = [&](uint32_t member) {
    seen |= member == node;
    return true;
  };
  WalkWork work;
  const WalkParameters parameters{
      .limit = LIMIT, .window = WINDOW, .maxEstimates = maxEstimates};
  graph_.walk(codes_, searcher.query, parameters, isMember, searcher.scratch, searcher.found, work);
  return seen;
}

void Graph::Repair::keepNearest(std::vector<Candidate>& found, uint32_t node, size_t count) const {
  const auto keepBest = [&](size_t kept) {
    const auto end = found.begin() + static_cast<ptrdiff_t>(std::min(kept, found.size()));
    std::partial_sort(found.begin(), end, found.end(), [](const Candidate& a, const Candidate& b) {
      return a.estimate > b.estimate;
    });
    found.erase(end, found.end());
  };
  std::erase_if(found, [&](const Candidate& candidate) { return candidate.node == node; });
  keepBest(LINK_CANDIDATES);
  const Code3Bit code = codes_.code3Bit(node);
  for (Candidate& candidate : found) {
    candidate.estimate = codes_.quantizer.estimatePair(code, codes_.code3Bit(candidate.node));
  }
  keepBest(count);
}

void Graph::Repair::reconnect(Searcher& searcher, uint32_t node) {
  aim(searcher, node);
  // A node that was reconnected before may have opened the way to this one.
  if (finds(searcher, node, MAX_ESTIMATES)) return;
  keepNearest(searcher.found, node, NEW_LINKS);
  for (const Candidate& candidate : searcher.found) {
    link(candidate.node, node, true);
    link(node, candidate.node, true);
  }
}

void Graph::Repair::link(uint32_t from, uint32_t to, bool replaces) {
  uint32_t* links = graph_.links_.base(from);
  const uint32_t count = countLinks(links, M0);
  if (std::find(links, links + count, to) != links + count) return;
  uint32_t place = count;
  if (count == M0) {
    if (!replaces) return;
    const auto isLinkedLess = [&](uint32_t a, uint32_t b) { return incoming_[a] < incoming_[b]; };
    place = static_cast<uint32_t>(std::max_element(links, links + M0, isLinkedLess) - links);
    if (incoming_[links[place]] < MIN_INCOMING_TO_SPARE) return;
    incoming_[links[place]]--;
  }
  links[place] = to;
  incoming_[to]++;
}

}  // namespace tessera
