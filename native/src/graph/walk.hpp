// The search of a graph: a best-first walk over level 0 that ends when the estimates of the frontier
// exclude better members.
#pragma once
#include <algorithm>
#include <cmath>
#include <functional>

#include "common/prefetch.hpp"
#include "graph/graph.hpp"

namespace tessera {

/// One walk. `IsMember` tells which nodes are members. The walk expands other nodes as well.
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
        window_(parameters.window),
        kept_(KEPT_ERRORS * RabitqQuantizer::ERROR_1BIT * query.residualLength),
        hidden_(parameters.hidden),
        maxEstimates_(parameters.maxEstimates),
        isMember_(isMember),
        visited_(scratch.visited),
        ascents_(scratch.ascents),
        frontier_(scratch.frontier),
        best_(scratch.best),
        found_(found) {
    found_.clear();
    frontier_.clear();
    best_.clear();
    visited_.reset(graph.size());
    for (const uint32_t node : parameters.hidden) {
      if (node < graph.size()) visited_.add(node);
    }
    for (const Candidate& point : scratch.entryPoints) {
      if (visited_.add(point.node)) offer(point.estimate, point.node, code(point.node));
    }
  }

  /// Returns false if it gave up.
  bool run() {
    if (!expandFrontier() || !climbAscents()) return false;
    keepUpperBounds();
    return true;
  }

  WalkWork work;

 private:
  /// Expands the nodes within the window. Returns false if the walk gave up.
  bool expandFrontier() {
    while (!frontier_.empty() && reaches(frontier_.front())) {
      if (work.estimates > maxEstimates_) return false;
      if (isTimeToForecast() && !willEnd()) return false;
      for (uint32_t i = 0; i < EXPANDED_TOGETHER && !frontier_.empty(); i++) {
        if (!reaches(frontier_.front())) break;
        const uint32_t node = frontier_.front().node;
        std::pop_heap(frontier_.begin(), frontier_.end(), isWorse);
        frontier_.pop_back();
        gather(node);
      }
      settle();
    }
    return true;
  }

  /// The neighbours of a query may be in several regions of the graph. The nodes between the regions may be
  /// too far below the best for the walk to cross. So the walk follows each entry point that could lead to
  /// another region uphill.
  bool climbAscents() {
    const float width =
        CLIMB_WINDOW * query_.residualLength * codes_.quantizer.residualLengthPerScale();
    for (const Candidate& point : ascents_) {
      const bool isNear = point.estimate + width * scaleOf(code(point.node)) >= minEstimate_;
      if (!isNear || reaches(point)) continue;
      climb(point);
      if (!expandFrontier()) return false;
    }
    return true;
  }

  /// Follows the best neighbour until none is better, or the window reaches it.
  void climb(Candidate point) {
    for (;;) {
      gather(point.node);
      const Candidate next = settle();
      if (!(next.estimate > point.estimate) || reaches(next)) return;
      point = next;
    }
  }

  /// How far below the best entry points are followed uphill, in the unit of DESCENT_WINDOW. With 0.2, one in
  /// twenty queries between two clusters missed the second cluster. With 0.5, queries in one cluster also
  /// follow the entry points in all others.
  static constexpr float CLIMB_WINDOW = 0.35f;
  /// Nodes that are expanded together, so that memory is read ahead.
  static constexpr uint32_t EXPANDED_TOGETHER = 2;
  /// Expansions before the first forecast of the remaining work and between forecasts. Nodes that are
  /// expanded together bring a walk as near to its query as the better of them would alone.
  static constexpr uint64_t FORECAST_EXPANSIONS = 32 * EXPANDED_TOGETHER;
  /// Standard errors below the `limit`-th best estimate within which members are reranked, even if the
  /// window is narrower, because they are already estimated.
  static constexpr float KEPT_ERRORS = 3;

  /// Estimates of copies differ by less than this. Few other estimates are as close.
  static constexpr float SAME_ESTIMATE = 1e-5f;

  static constexpr auto isWorse = [](const Candidate& a, const Candidate& b) {
    return a.estimate < b.estimate;
  };

  /// Short walks are not worth a forecast.
  bool isTimeToForecast() {
    if (work.estimates <= maxEstimates_ / 8 || work.expansions < nextForecast_) return false;
    nextForecast_ = work.expansions + FORECAST_EXPANSIONS;
    return true;
  }

  /// Visits a neighbour of a hidden node and returns it, or NONE when all were visited. A link to the node
  /// would lead to one of them if it had never been there.
  uint32_t visitBehind(uint32_t hidden) {
    const uint32_t* links = graph_.links_.base(hidden);
    for (uint32_t i = 0; i < M0 && links[i] != NONE; i++) {
      if (visited_.add(links[i])) return links[i];
    }
    return NONE;
  }

  const uint8_t* code(uint32_t node) const { return codes_.codes1Bit.row(node); }

  float scaleOf(const uint8_t* code) const { return codes_.quantizer.factors1Bit(code).scale; }

  bool reaches(const Candidate& entry) const { return entry.estimate >= leastEstimate_; }

  /// Whether a member may be among the best although its estimate is not.
  bool isKept(float estimate, const uint8_t* code) const {
    return estimate >= leastEstimate_ || estimate + kept_ * scaleOf(code) >= minEstimate_;
  }

  void offer(float estimate, uint32_t node, const uint8_t* code) {
    if (!isKept(estimate, code)) return;
    if (estimate >= leastEstimate_) {
      prefetch(graph_.links_.base(node), M0 * sizeof node);
      frontier_.push_back({estimate, node});
      std::push_heap(frontier_.begin(), frontier_.end(), isWorse);
    }
    if (!isMember_(node)) return;
    found_.push_back({estimate, node});
    if (best_.size() == limit_ && estimate <= best_.front()) return;
    if (isCopy(estimate)) return;
    if (best_.size() == limit_) {
      std::pop_heap(best_.begin(), best_.end(), std::greater<>());
      best_.back() = estimate;
    } else {
      best_.push_back(estimate);
    }
    std::push_heap(best_.begin(), best_.end(), std::greater<>());
    if (best_.size() == limit_) raise(best_.front());
  }

  /// Whether one of the best has this estimate. Copies of a vector with little noise have the same estimate
  /// and count once: otherwise a walk would end at copies of the nearest vector and miss all others.
  bool isCopy(float estimate) const {
    bool isCopy = false;
    for (const float other : best_) isCopy |= std::abs(other - estimate) < SAME_ESTIMATE;
    return isCopy;
  }

  void raise(float minEstimate) {
    minEstimate_ = minEstimate;
    // Errors may lift an estimate above 1.
    leastEstimate_ = minEstimate - window_ * std::max(1 - minEstimate, 0.0f);
  }

  /// Notes the new neighbours of a node, whose codes are then on their way from memory.
  void gather(uint32_t node) {
    const size_t before = gathered_;
    const uint32_t* links = graph_.links_.base(node);
    for (uint32_t i = 0; i < M0 && links[i] != NONE; i++) {
      uint32_t neighbour = links[i];
      if (neighbour == hidden_[0] || neighbour == hidden_[1]) {
        neighbour = visitBehind(neighbour);
        if (neighbour != NONE) nodes_[gathered_++] = neighbour;
      } else {
        // Whether a neighbour is new is random, so the processor cannot predict a branch.
        nodes_[gathered_] = neighbour;
        gathered_ += visited_.add(neighbour);
      }
    }
    for (size_t i = before; i < gathered_; i++) {
      gatheredCodes_[i] = code(nodes_[i]);
      prefetch(gatheredCodes_[i], codes_.codes1Bit.rowBytes());
    }
    work.expansions++;
  }

  /// Estimates the nodes that were gathered and returns the best of them.
  Candidate settle() {
    float estimates[EXPANDED_TOGETHER * M0];
    codes_.quantizer.estimate1Bit(query_, gatheredCodes_, gathered_, estimates);
    Candidate best{-1e30f, 0};
    for (size_t i = 0; i < gathered_; i++) {
      offer(estimates[i], nodes_[i], gatheredCodes_[i]);
      if (estimates[i] > best.estimate) best = {estimates[i], nodes_[i]};
    }
    work.estimates += gathered_;
    gathered_ = 0;
    return best;
  }

  /// Whether the nodes in the frontier that the walk must expand keep it within its bound. The frontier may
  /// grow, so the forecast is a lower bound of the remaining work.
  bool willEnd() const {
    const auto left = static_cast<uint64_t>(
        std::count_if(frontier_.begin(), frontier_.end(),
                      [this](const Candidate& entry) { return reaches(entry); }));
    return work.estimates + left * work.estimates / work.expansions <= maxEstimates_;
  }

  /// Drops the candidates that are now too far below the best, and makes the estimates upper bounds.
  void keepUpperBounds() {
    const float margin =
        RabitqQuantizer::ERROR_MARGIN * RabitqQuantizer::ERROR_1BIT * query_.residualLength;
    std::erase_if(found_, [&](Candidate& entry) {
      const bool excluded = !isKept(entry.estimate, code(entry.node));
      entry.estimate += margin * scaleOf(code(entry.node));
      return excluded;
    });
  }

  const Graph& graph_;
  const Codes& codes_;
  const QuantizedQuery& query_;
  const size_t limit_;
  const float window_;
  /// KEPT_ERRORS, to be multiplied by the scale of a code.
  const float kept_;
  const uint32_t (&hidden_)[2];
  const uint64_t maxEstimates_;
  const IsMember isMember_;
  VisitedSet& visited_;
  const std::vector<Candidate>& ascents_;
  std::vector<Candidate>& frontier_;
  std::vector<float>& best_;
  std::vector<Candidate>& found_;
  /// The `limit`-th best estimate of a member.
  float minEstimate_ = -1e30f;
  /// The estimate that a node must have to be expanded.
  float leastEstimate_ = -1e30f;
  uint64_t nextForecast_ = FORECAST_EXPANSIONS;
  /// Nodes that are to be estimated.
  uint32_t nodes_[EXPANDED_TOGETHER * M0 + 1];
  const uint8_t* gatheredCodes_[EXPANDED_TOGETHER * M0];
  size_t gathered_ = 0;
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
