#include "search/search.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "graph/walk.hpp"
#include "index/code_scan.hpp"
#include "index/rerank.hpp"
#include "kernels/kernels.hpp"
#include "search/best_hits.hpp"

namespace tessera {

/// Nodes of a scope up to which all full vectors are compared.
static constexpr uint32_t EXACT_MAX_NODES = 64;
/// The cost of an estimate in a walk, in estimates of a scan. A walk jumps about in memory.
static constexpr double WALK_COST = 3;
/// A walk for fewer neighbours would depend too much on the errors of single estimates.
static constexpr size_t WALK_MIN_LIMIT = 10;

namespace {

struct Scratch {
  GraphScratch graph;
  QuantizedQuery query;
  std::vector<float> prepared;
  std::vector<Candidate> candidates;
  std::vector<Candidate> pending;
};

Scratch& threadScratch() {
  static thread_local Scratch scratch;
  return scratch;
}

/// One search of one part of a scope. The public methods return the plan.
class Search {
 public:
  Search(const ScopePart& part, const Query& query, Answer& answer)
      : part_(part),
        index_(*part.index),
        vectors_(part.index->vectors()),
        query_(query),
        inverseNorm_(1 / std::sqrt(kernels().dot(query.vector, query.vector, query.dimension))),
        best_(part, query.limit, query.threshold, answer.hits),
        work_(answer.work) {}

  const char* exact() {
    part_.nodes.forEach(0, [&](uint32_t node) {
      const double dot = kernels().dot(query_.vector, vectors_.vector(node), query_.dimension);
      best_.offerNode(node, dot * inverseNorm_ * vectors_.inverseNorm(node));
    });
    work_.vectors += part_.nodes.count();
    best_.finish();
    return "exact";
  }

  /// Takes the cheapest plan, or the given one.
  const char* planned(Method method) {
    const uint32_t members = part_.nodes.count();
    if (members <= std::max(EXACT_MAX_NODES, query_.limit)) return exact();
    const std::shared_ptr<const QuantizedIndex> quantized = index_.quantized();
    scratch_.prepared.resize(query_.dimension);
    quantized->quantizer.prepare(query_.vector, inverseNorm_, scratch_.prepared.data());
    quantized->quantizer.encodeQuery(scratch_.prepared.data(), scratch_.query);
    const char* plan = "graph";
    if (method == Method::SCAN || !walk(*quantized, method == Method::GRAPH)) {
      plan = "scan";
      scanFrom(0, *quantized, scratch_.candidates);
    }
    rerank(*quantized);
    best_.finish();
    return plan;
  }

 private:
  /// Fills `kept` with the candidates of a scan of the members from node `first` on.
  void scanFrom(uint32_t first, const QuantizedIndex& quantized, std::vector<Candidate>& kept) {
    CodeScan scan(quantized, scratch_.query, query_.limit, query_.threshold, kept);
    part_.nodes.forEach(first, [&](uint32_t node) {
      scan.add(node);
      work_.estimates++;
    });
    scan.finish();
  }

  /// Fills the candidates from the graph and a scan of the nodes that are not in it yet. Returns
  /// false when a scan of all is cheaper, or turns out to be, unless the graph is forced.
  bool walk(const QuantizedIndex& quantized, bool forced) {
    const uint32_t graphed = quantized.graph.size();
    if (graphed < GRAPH_MIN_NODES) return false;
    const uint32_t members = part_.nodes.count();
    const uint32_t pending = std::min(members, index_.nodes() - graphed);
    const SearchEffort effort = quantized.effort();
    if (!forced && scanIsCheaper(effort, members, pending, graphed)) return false;

    const bool all = members - pending == graphed;
    const WalkParameters parameters{std::max<size_t>(query_.limit, WALK_MIN_LIMIT),
                                    effort.windowFor(query_.limit, !all),
                                    forced ? graphed : static_cast<uint64_t>(members / WALK_COST)};
    const auto isMember = [&](uint32_t node) {
      // Nodes from `graphed` on may be in the graph by now. They are scanned.
      return node < graphed && (all || part_.nodes.has(node));
    };
    WalkWork work;
    const bool complete = quantized.graph.walk(scratch_.query, parameters, isMember, scratch_.graph,
                                               scratch_.candidates, work);
    work_.estimates += work.estimates;
    work_.expansions += work.expansions;
    if (!complete) return false;
    if (pending > 0) {
      scanFrom(graphed, quantized, scratch_.pending);
      scratch_.candidates.insert(scratch_.candidates.end(), scratch_.pending.begin(),
                                 scratch_.pending.end());
    }
    return true;
  }

  bool scanIsCheaper(const SearchEffort& effort, uint32_t members, uint32_t pending,
                     uint32_t graphed) const {
    if (!effort.isSufficientFor(query_.limit)) return true;
    // A filtered walk must go on until it has met enough members among the others.
    const double share = std::min(1.0, static_cast<double>(members) / graphed);
    return effort.estimatesFor(query_.limit / share) * WALK_COST + pending > members;
  }

  void rerank(const QuantizedIndex& quantized) {
    std::vector<Candidate>& candidates = scratch_.candidates;
    work_.codes4Bit +=
        rerankBy4BitCodes(quantized, scratch_.query, query_.threshold, query_.limit, candidates);
    rerankByVectors(
        vectors_, quantized, scratch_.query, query_.vector, inverseNorm_, candidates,
        [this](uint32_t node, double score) {
          work_.vectors++;
          best_.offerNode(node, score);
        },
        [this] { return best_.minScore(); });
  }

  const ScopePart& part_;
  const Index& index_;
  const VectorTable& vectors_;
  const Query& query_;
  const double inverseNorm_;
  BestHits best_;
  SearchWork& work_;
  Scratch& scratch_ = threadScratch();
};

}  // namespace

void search(const Scope& scope, const Query& query, Answer& answer, Method method) {
  const auto start = std::chrono::steady_clock::now();
  answer.hits.clear();
  answer.index = nullptr;
  answer.plan = "empty";
  answer.work = SearchWork{};
  const auto& part = scope.parts[static_cast<size_t>(dimensionSlot(query.dimension))];
  if (part) {
    answer.index = part->index.get();
    Search search(*part, query, answer);
    answer.plan = method == Method::EXACT ? search.exact() : search.planned(method);
  }
  const std::chrono::duration<double, std::micro> elapsed =
      std::chrono::steady_clock::now() - start;
  answer.milliseconds = std::round(elapsed.count()) / 1000;
}

}  // namespace tessera
