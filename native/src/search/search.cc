#include "search/search.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "index/code_scan.hpp"
#include "index/rerank.hpp"
#include "kernels/kernels.hpp"
#include "search/best_hits.hpp"

namespace tessera {

/// Nodes of a scope up to which all full vectors are compared.
static constexpr uint32_t EXACT_MAX_NODES = 64;
/// The limit that calibration measures ef for.
static constexpr uint32_t CALIBRATED_LIMIT = 10;
/// The estimated cost of a graph search per unit of ef, in codes scanned.
static constexpr double GRAPH_COST_PER_EF = 48;
/// Factor on the ef of filtered searches, so that chance seldom leaves too few members.
static constexpr double FILTER_SLACK = 1.2;

namespace {

struct Scratch {
  GraphScratch graph;
  QuantizedQuery query;
  std::vector<float> prepared;
  std::vector<Candidate> candidates;
};

Scratch& threadScratch() {
  static thread_local Scratch scratch;
  return scratch;
}

/// One search of one part of a scope. The methods return the plan.
class Search {
 public:
  Search(const ScopePart& part, const Query& query, Answer& answer)
      : part_(part),
        index_(*part.index),
        vectors_(part.index->vectors()),
        query_(query),
        inverseNorm_(1 / std::sqrt(kernels().dot(query.vector, query.vector, query.dimension))),
        best_(part, query.limit, query.threshold, answer.hits) {}

  const char* exact() {
    part_.nodes.forEach(0, [&](uint32_t node) {
      const double dot = kernels().dot(query_.vector, vectors_.vector(node), query_.dimension);
      best_.offerNode(node, dot * inverseNorm_ * vectors_.inverseNorm(node));
    });
    best_.finish();
    return "exact";
  }

  const char* planned() {
    const uint32_t members = part_.nodes.count();
    if (members <= std::max(EXACT_MAX_NODES, query_.limit)) return exact();
    const std::shared_ptr<const QuantizedIndex> quantized = index_.quantized();
    scratch_.prepared.resize(query_.dimension);
    quantized->quantizer.prepare(query_.vector, inverseNorm_, scratch_.prepared.data());
    quantized->quantizer.encodeQuery(scratch_.prepared.data(), scratch_.query);
    const char* plan = "graph";
    if (!searchGraph(*quantized)) {
      plan = "scan";
      scanFrom(0, *quantized);
    }
    rerankBy4BitCodes(*quantized, scratch_.query, query_.threshold, query_.limit,
                      scratch_.candidates);
    rerankByVectors(
        vectors_, *quantized, scratch_.query, query_.vector, inverseNorm_, scratch_.candidates,
        [this](uint32_t node, double score) { best_.offerNode(node, score); },
        [this] { return best_.minScore(); });
    best_.finish();
    return plan;
  }

 private:
  /// Replaces the candidates with those of a scan of the members from node `first` on.
  void scanFrom(uint32_t first, const QuantizedIndex& quantized) {
    CodeScan scan(quantized, scratch_.query, query_.limit, query_.threshold, scratch_.candidates);
    part_.nodes.forEach(first, [&](uint32_t node) { scan.add(node); });
    scan.finish();
  }

  /// The ef of a search without a filter.
  size_t unfilteredEf(const QuantizedIndex& quantized) const {
    const size_t measured = quantized.ef.load(std::memory_order_relaxed);
    // Each hit beyond the calibrated limit needs a place of its own, and another one because of the
    // errors of the estimates around it.
    const size_t further = query_.limit > CALIBRATED_LIMIT ? query_.limit - CALIBRATED_LIMIT : 0;
    return measured + 2 * further;
  }

  /// Replaces the candidates with those of the graph. Returns false when a scan is cheaper, or when
  /// the graph found so few members that the best may be missing.
  bool searchGraph(const QuantizedIndex& quantized) {
    const uint32_t graphed = quantized.graph.size();
    const uint32_t members = part_.nodes.count();
    if (graphed < GRAPH_MIN_NODES) return false;
    const size_t wanted = unfilteredEf(quantized);
    // A filtered search meets members in proportion to their share, so ef grows accordingly.
    const bool filtered = members < graphed;
    const double share = filtered ? static_cast<double>(members) / graphed / FILTER_SLACK : 1.0;
    const auto ef = static_cast<size_t>(std::ceil(static_cast<double>(wanted) / share));
    const uint32_t pending = std::min(members, index_.nodes() - graphed);
    if (static_cast<double>(ef) * GRAPH_COST_PER_EF + pending > members) return false;
    scratch_.candidates.clear();
    if (pending > 0) scanFrom(graphed, quantized);
    quantized.graph.search(scratch_.query, ef, scratch_.graph);
    size_t found = 0;
    for (const Candidate& candidate : scratch_.graph.queue.entries()) {
      // Nodes from `graphed` on may be in the graph by now, but were scanned before.
      if (candidate.node >= graphed || !part_.nodes.has(candidate.node)) continue;
      scratch_.candidates.push_back(candidate);
      found++;
    }
    return found * 4 >= wanted * 3;
  }

  const ScopePart& part_;
  const Index& index_;
  const VectorTable& vectors_;
  const Query& query_;
  const double inverseNorm_;
  BestHits best_;
  Scratch& scratch_ = threadScratch();
};

}  // namespace

void search(const Scope& scope, const Query& query, Answer& answer, Method method) {
  const auto start = std::chrono::steady_clock::now();
  answer.hits.clear();
  answer.index = nullptr;
  answer.plan = "empty";
  const auto& part = scope.parts[static_cast<size_t>(dimensionSlot(query.dimension))];
  if (part) {
    answer.index = part->index.get();
    Search search(*part, query, answer);
    answer.plan = method == Method::EXACT ? search.exact() : search.planned();
  }
  const std::chrono::duration<double, std::micro> elapsed =
      std::chrono::steady_clock::now() - start;
  answer.milliseconds = std::round(elapsed.count()) / 1000;
}

}  // namespace tessera
