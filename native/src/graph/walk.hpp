// The search of a graph: a best-first walk over level 0 that ends when the estimates themselves say
// that nothing better is left.
#pragma once
#include <algorithm>
#include <functional>

#include "common/prefetch.hpp"
#include "graph/graph.hpp"

namespace tessera {

/// One walk. `IsMember` tells which nodes are wanted; the others are walked over.
template <typename IsMember>
class Graph::Walk {
 public:
  Walk(const Graph& graph, const Codes& codes, const QuantizedQuery& query,
       const WalkParameters& parameters, IsMember isMember, GraphScratch& scratch,
       std::vector<Candidate>& found)
      : graph_(graph),
        codes_(codes),
        query_(query),
        limit_(parameters.limit),
        window_(parameters.window * query.residualLength *
                codes.quantizer.residualLengthPerScale()),
        maxEstimates_(parameters.maxEstimates),
        isMember_(isMember),
        frontier_(scratch.frontier),
        best_(scratch.best),
        found_(found) {
    found_.clear();
    frontier_.clear();
    best_.clear();
    scratch.visited.assign((size_t{graph.size()} + 63) / 64, 0);
    visited_ = scratch.visited.data();
    for (const uint32_t node : parameters.hidden) {
      if (node < graph.size()) visit(node);
    }
    for (const Candidate& point : scratch.entryPoints) {
      if (visit(point.node)) offer(point.estimate, point.node, code(point.node));
    }
  }

  /// Returns false if it gave up.
  bool run() {
    while (!frontier_.empty() && reaches(frontier_.front())) {
      if (work.estimates > maxEstimates_) return false;
      if (isTimeToForecast() && !willEnd()) return false;
      expand();
    }
    keepUpperBounds();
    return true;
  }

  WalkWork work;

 private:
  /// Expansions from one forecast of the remaining work to the next.
  static constexpr uint64_t FORECAST_EXPANSIONS = 32;

  static bool isWorse(const Candidate& a, const Candidate& b) { return a.estimate < b.estimate; }

  /// Short walks are not worth a forecast.
  bool isTimeToForecast() const {
    return work.estimates > maxEstimates_ / 8 &&
           work.expansions % FORECAST_EXPANSIONS == FORECAST_EXPANSIONS - 1;
  }

  bool visit(uint32_t node) {
    uint64_t& word = visited_[node >> 6];
    const uint64_t mark = uint64_t{1} << (node & 63);
    const bool fresh = (word & mark) == 0;
    word |= mark;
    return fresh;
  }

  const uint8_t* code(uint32_t node) const { return codes_.codes1Bit.row(node); }

  float scaleOf(const uint8_t* code) const { return codes_.quantizer.factors1Bit(code).scale; }

  bool reaches(const Candidate& entry) const {
    return entry.estimate + window_ * scaleOf(code(entry.node)) >= minEstimate_;
  }

  void offer(float estimate, uint32_t node, const uint8_t* code) {
    if (estimate + window_ * scaleOf(code) < minEstimate_) return;
    frontier_.push_back({estimate, node, false});
    std::push_heap(frontier_.begin(), frontier_.end(), isWorse);
    if (!isMember_(node)) return;
    found_.push_back({estimate, node, false});
    if (best_.size() == limit_) {
      if (estimate <= best_.front()) return;
      std::pop_heap(best_.begin(), best_.end(), std::greater<>());
      best_.back() = estimate;
    } else {
      best_.push_back(estimate);
    }
    std::push_heap(best_.begin(), best_.end(), std::greater<>());
    if (best_.size() == limit_) minEstimate_ = best_.front();
  }

  /// Estimates the neighbours of the best node of the frontier.
  void expand() {
    const uint32_t node = frontier_.front().node;
    std::pop_heap(frontier_.begin(), frontier_.end(), isWorse);
    frontier_.pop_back();
    uint32_t nodes[M0];
    const uint8_t* codes[M0];
    float estimates[M0];
    size_t count = 0;
    const auto neighbours = graph_.links_.neighbors(node, 0);
    for (auto link = neighbours.begin(); link != neighbours.end(); ++link) {
      const uint32_t neighbour = link.slot();
      if (!visit(neighbour)) continue;
      nodes[count] = neighbour;
      codes[count] = code(neighbour);
      prefetch(codes[count++], codes_.codes1Bit.rowBytes());
    }
    // The next node rarely changes with the estimates of these neighbours.
    if (!frontier_.empty()) graph_.prefetchLinks(frontier_.front().node);
    codes_.quantizer.estimate1Bit(query_, codes, count, estimates);
    for (size_t i = 0; i < count; i++) offer(estimates[i], nodes[i], codes[i]);
    work.estimates += count;
    work.expansions++;
  }

  /// Whether the nodes that are to be expanded by now leave the walk within its bound. More may come,
  /// so this is only a sign that it will not end in time. The scale of one node stands for all, which
  /// saves reading their codes.
  bool willEnd() const {
    const float scale = scaleOf(code(frontier_.front().node));
    const float least = minEstimate_ - window_ * scale;
    const auto left = static_cast<uint64_t>(
        std::count_if(frontier_.begin(), frontier_.end(),
                      [least](const Candidate& entry) { return entry.estimate >= least; }));
    return work.estimates + left * work.estimates / work.expansions <= maxEstimates_;
  }

  /// Drops what is too far below the best by now, and makes the estimates upper bounds.
  void keepUpperBounds() {
    const float margin =
        RabitqQuantizer::ERROR_MARGIN * RabitqQuantizer::ERROR_1BIT * query_.residualLength;
    std::erase_if(found_, [&](Candidate& entry) {
      const bool excluded = !reaches(entry);
      entry.estimate += margin * scaleOf(code(entry.node));
      return excluded;
    });
  }

  const Graph& graph_;
  const Codes& codes_;
  const QuantizedQuery& query_;
  const size_t limit_;
  /// Multiplied by the scale of a code.
  const float window_;
  const uint64_t maxEstimates_;
  const IsMember isMember_;
  uint64_t* visited_;
  std::vector<Candidate>& frontier_;
  std::vector<float>& best_;
  std::vector<Candidate>& found_;
  /// The `limit`-th best estimate of a member.
  float minEstimate_ = -1e30f;
};

template <typename IsMember>
bool Graph::walk(const Codes& codes, const QuantizedQuery& query, const WalkParameters& parameters,
                 IsMember isMember, GraphScratch& scratch, std::vector<Candidate>& found,
                 WalkWork& work) const {
  found.clear();
  if (size() == 0) return true;
  descend(codes, query, scratch);
  Walk<IsMember> walk(*this, codes, query, parameters, isMember, scratch, found);
  const bool complete = walk.run();
  work.estimates += walk.work.estimates;
  work.expansions += walk.work.expansions;
  return complete;
}

}  // namespace tessera
