// The search of a graph: a best-first walk over level 0 that ends when the estimates themselves say
// that nothing better is left.
#pragma once
#include <algorithm>
#include <functional>

#include "common/prefetch.hpp"
#include "graph/graph.hpp"

namespace tessera {

template <typename IsMember>
bool Graph::walk(const QuantizedQuery& query, const WalkParameters& parameters, IsMember isMember,
                 GraphScratch& scratch, std::vector<Candidate>& found, WalkWork& work) const {
  found.clear();
  scratch.frontier.clear();
  scratch.best.clear();
  if (size() == 0) return true;
  descend(query, 0, scratch);
  const uint32_t bound = size() + SLAB_ROWS;
  scratch.visited.assign((size_t{bound} + 63) / 64, 0);
  const auto visit = [visited = scratch.visited.data()](uint32_t node) {
    uint64_t& word = visited[node >> 6];
    const uint64_t mark = uint64_t{1} << (node & 63);
    const bool fresh = (word & mark) == 0;
    word |= mark;
    return fresh;
  };
  for (const uint32_t node : parameters.hidden) {
    if (node < bound) visit(node);
  }

  const auto lower = [](const Candidate& a, const Candidate& b) { return a.estimate < b.estimate; };
  const float error = RabitqQuantizer::ERROR_1BIT * query.residualLength;
  const float window = parameters.window * error;
  const float margin = RabitqQuantizer::ERROR_MARGIN * error;
  std::vector<Candidate>& frontier = scratch.frontier;
  std::vector<float>& best = scratch.best;
  // The work of earlier walks does not count.
  const uint64_t maxEstimates = work.estimates + parameters.maxEstimates;
  float minEstimate = -1e30f;
  const auto offer = [&](float estimate, uint32_t node, const uint8_t* code) {
    const float scale = quantizer_.factors1Bit(code).scale;
    if (estimate + window * scale < minEstimate) return;
    frontier.push_back({estimate, node, false});
    std::push_heap(frontier.begin(), frontier.end(), lower);
    if (!isMember(node)) return;
    found.push_back({estimate, node, false});
    if (best.size() == parameters.limit) {
      if (estimate <= best.front()) return;
      std::pop_heap(best.begin(), best.end(), std::greater<>());
      best.back() = estimate;
    } else {
      best.push_back(estimate);
    }
    std::push_heap(best.begin(), best.end(), std::greater<>());
    if (best.size() == parameters.limit) minEstimate = best.front();
  };

  for (const Candidate& point : scratch.entryPoints) {
    if (visit(point.node)) offer(point.estimate, point.node, code(point.node));
  }
  while (!frontier.empty()) {
    const Candidate nearest = frontier.front();
    const float scale = quantizer_.factors1Bit(code(nearest.node)).scale;
    if (nearest.estimate + window * scale < minEstimate) break;
    if (work.estimates > maxEstimates) return false;
    std::pop_heap(frontier.begin(), frontier.end(), lower);
    frontier.pop_back();
    uint32_t nodes[M0];
    const uint8_t* codes[M0];
    float estimates[M0];
    const size_t count = unvisitedNeighbours(nearest.node, bound, visit, nodes, codes);
    // The next candidate rarely changes with the estimates of these neighbours.
    if (!frontier.empty()) prefetch(links(frontier.front().node, 0), M0 * sizeof(Link));
    quantizer_.estimate1Bit(query, codes, count, estimates);
    for (size_t i = 0; i < count; i++) offer(estimates[i], nodes[i], codes[i]);
    work.estimates += count;
    work.expansions++;
  }
  std::erase_if(found, [&](Candidate& entry) {
    const float scale = quantizer_.factors1Bit(code(entry.node)).scale;
    const bool excluded = entry.estimate + window * scale < minEstimate;
    entry.estimate += margin * scale;
    return excluded;
  });
  return true;
}

}  // namespace tessera
