#include "search.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "candidates.hpp"
#include "hits.hpp"
#include "kernels.hpp"

namespace tessera {

/// Nodes of a scope up to which all full vectors are compared.
static constexpr uint32_t EXACT_MAX = 64;
/// The limit that the expansion is measured for.
static constexpr uint32_t MEASURED_LIMIT = 10;
/// The estimated cost of one expansion of the graph, in codes scanned.
static constexpr double EXPANSION_COST = 48;
/// More candidates than the share of members asks for, so that chance seldom leaves too few.
static constexpr double CHANCE_SLACK = 1.2;

namespace {

struct Scratch {
  GraphScratch graph;
  CodedQuery coded;
  std::vector<float> prepared;
  std::vector<Candidate> members;
};

Scratch& threadScratch() {
  static thread_local Scratch scratch;
  return scratch;
}

/// One search of one part of a scope.
class Search {
 public:
  Search(const ScopePart& part, const Query& query, Answer& answer)
      : part_(part),
        index_(*part.index),
        query_(query),
        inverseNorm_(1 / std::sqrt(kernels().dot(query.vector, query.vector, query.dimension))),
        best_(part, query.limit, query.threshold, answer.hits) {}

  const char* exact() {
    part_.nodes.forEach(0, [&](uint32_t node) {
      const double dot = kernels().dot(query_.vector, index_.vector(node), query_.dimension);
      best_.offerNode(node, dot * inverseNorm_ * index_.inverseNorm(node));
    });
    best_.finish();
    return "exact";
  }

  const char* planned() {
    const uint32_t members = part_.nodes.count();
    if (members <= std::max(EXACT_MAX, query_.limit)) return exact();
    const std::shared_ptr<const Sketch> sketch = index_.sketch();
    scratch_.prepared.resize(query_.dimension);
    sketch->book.prepare(query_.vector, inverseNorm_, scratch_.prepared.data());
    sketch->book.encodeQuery(scratch_.prepared.data(), scratch_.coded);
    const char* plan = "graph";
    if (!byGraph(*sketch)) {
      plan = "scan";
      scan(*sketch);
    }
    refineCandidates(*sketch, scratch_.coded, query_.threshold, query_.limit, scratch_.members);
    rankCandidates(
        index_, *sketch, scratch_.coded, query_.vector, inverseNorm_, scratch_.members,
        [this](uint32_t node, double score) { best_.offerNode(node, score); },
        [this] { return best_.bar(); });
    best_.finish();
    return plan;
  }

 private:
  void scan(const Sketch& sketch) {
    CodeScan scan(sketch, scratch_.coded, query_.limit, query_.threshold, scratch_.members);
    part_.nodes.forEach(0, [&](uint32_t node) { scan.add(node); });
    scan.finish();
  }

  /// Candidates that a graph search without a filter keeps.
  size_t expansionFor(const Sketch& sketch) const {
    const size_t measured = sketch.expansion.load(std::memory_order_relaxed);
    // The expansion was measured for ten results; each further one takes a place of its own and
    // some more for the errors of the estimates around it.
    const size_t further = query_.limit > MEASURED_LIMIT ? query_.limit - MEASURED_LIMIT : 0;
    return measured + 2 * further;
  }

  /// Fills the candidates from the graph; false when a scan is cheaper, or when the graph found so
  /// few members that the best may be missing.
  bool byGraph(const Sketch& sketch) {
    const uint32_t graphed = sketch.graph.size();
    const uint32_t members = part_.nodes.count();
    if (graphed < GRAPH_MIN) return false;
    const size_t wanted = expansionFor(sketch);
    // Members are met as often as chance has it, so the search keeps that many more candidates.
    const bool filtered = members < graphed;
    const double share = filtered ? static_cast<double>(members) / graphed / CHANCE_SLACK : 1.0;
    const auto expansion = static_cast<size_t>(std::ceil(static_cast<double>(wanted) / share));
    const uint32_t pending = std::min(members, index_.nodes() - graphed);
    if (static_cast<double>(expansion) * EXPANSION_COST + pending > members) return false;
    scratch_.members.clear();
    if (pending > 0) {
      CodeScan scan(sketch, scratch_.coded, query_.limit, query_.threshold, scratch_.members);
      part_.nodes.forEach(graphed, [&](uint32_t node) { scan.add(node); });
      scan.finish();
    }
    sketch.graph.search(scratch_.coded, expansion, scratch_.graph);
    size_t found = 0;
    for (const Candidate& candidate : scratch_.graph.pool.entries()) {
      // Nodes from `graphed` on may be in the graph by now, but were scanned already.
      if (candidate.node >= graphed || !part_.nodes.has(candidate.node)) continue;
      scratch_.members.push_back(candidate);
      found++;
    }
    return found * 4 >= wanted * 3;
  }

  const ScopePart& part_;
  const Index& index_;
  const Query& query_;
  const double inverseNorm_;
  BestHits best_;
  Scratch& scratch_ = threadScratch();
};

using Method = const char* (Search::*)();

void run(Method method, const Scope& scope, const Query& query, Answer& answer) {
  const auto start = std::chrono::steady_clock::now();
  answer.hits.clear();
  answer.index = nullptr;
  answer.plan = "empty";
  const auto& part = scope.parts[static_cast<size_t>(dimensionSlot(query.dimension))];
  if (part) {
    answer.index = part->index.get();
    answer.plan = (Search(*part, query, answer).*method)();
  }
  const std::chrono::duration<double, std::micro> elapsed = std::chrono::steady_clock::now() - start;
  answer.milliseconds = std::round(elapsed.count()) / 1000;
}

}  // namespace

void exactSearch(const Scope& scope, const Query& query, Answer& answer) {
  run(&Search::exact, scope, query, answer);
}

void search(const Scope& scope, const Query& query, Answer& answer) {
  run(&Search::planned, scope, query, answer);
}

}  // namespace tessera
