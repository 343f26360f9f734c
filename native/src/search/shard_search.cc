#include "search/shard_search.hpp"

#include <algorithm>
#include <chrono>

#include "common/cosine.hpp"
#include "graph/walk.hpp"
#include "index/code_scan.hpp"
#include "index/rerank.hpp"
#include "kernels/kernels.hpp"
#include "search/match_count.hpp"

namespace tessera {

/// The rounding of estimates, which have single precision.
static constexpr double ESTIMATE_ROUNDING = 1e-6;
/// Most members in a shard for which all full vectors are compared.
static constexpr uint32_t EXACT_MAX_NODES = 64;
/// Most members in a shard for which scans start with the wide window: they keep few candidates anyway.
static constexpr uint32_t WIDE_SCAN_NODES = 1024;
/// The cost of an estimate in a walk, in estimates of a scan. A walk jumps about in memory.
static constexpr double WALK_COST = 3;
/// A walk for fewer neighbours would depend too much on the errors of single estimates.
static constexpr size_t WALK_MIN_LIMIT = 10;

namespace {

struct Scratch {
  GraphScratch graph;
  QuantizedQuery query;
  std::vector<Candidate> candidates;
  std::vector<Candidate> pending;
};

Scratch& threadScratch() {
  static thread_local Scratch scratch;
  return scratch;
}

class ShardSearch {
 public:
  ShardSearch(const ScopePart& part, const PreparedQuery& prepared, BestHits& best,
              SearchWork& work)
      : part_(part),
        vectors_(part.shard->vectors()),
        prepared_(prepared),
        query_(prepared.query),
        best_(best),
        work_(work) {}

  Plan run() {
    work_.members += part_.nodes.count();
    if (isComparedExactly(part_, query_, prepared_.method)) return exact();
    const std::shared_ptr<const QuantizedIndex> quantized = part_.shard->quantized();
    quantized->quantizer.encodeQuery(prepared_.rotated.data(), scratch_.query);
    Plan plan = Plan::GRAPH;
    if (prepared_.method == Method::SCAN || !walk(*quantized, prepared_.method == Method::GRAPH)) {
      plan = Plan::SCAN;
      scanFrom(0, *quantized, scratch_.candidates);
    }
    rerank(*quantized);
    count(*quantized);
    return plan;
  }

 private:
  Plan exact() {
    part_.nodes.forEach(0, [&](uint32_t node) {
      best_.offerNode(part_, node, exactScore(vectors_, prepared_, node));
    });
    work_.vectors += part_.nodes.count();
    work_.matches += best_.matches();
    return Plan::EXACT;
  }

  void count(const QuantizedIndex& quantized) {
    const std::optional<uint64_t> all =
        prepared_.isCounted ? countMatches(part_, quantized, scratch_.query, prepared_, work_)
                            : std::nullopt;
    work_.matches += all.value_or(best_.matches());
    work_.countsAll = work_.countsAll && all.has_value();
  }

  /// Fills `kept` with the candidates of a scan of the members from node `first` on.
  void scanFrom(uint32_t first, const QuantizedIndex& quantized, std::vector<Candidate>& kept) {
    const bool isSmall = part_.nodes.count() <= WIDE_SCAN_NODES;
    for (const ErrorBounds& bounds : {ORDINARY_ERRORS, CROWDED_ERRORS}) {
      const bool isWide = bounds.window == CROWDED_ERRORS.window;
      if (isSmall && !isWide) continue;
      CodeScan scan(quantized, scratch_.query, query_.limit, neededEstimate(), kept, bounds);
      part_.nodes.forEach(first, [&](uint32_t node) {
        scan.add(node);
        work_.estimates++;
      });
      if (!isWide && scan.isCrowded()) continue;
      margin_ = std::max(margin_, bounds.margin);
      return scan.finish();
    }
  }

  /// Fills the candidates from the graph and a scan of the nodes that are not in it yet. Returns
  /// false when a scan of all is cheaper, or turns out to be, unless the graph is forced.
  bool walk(const QuantizedIndex& quantized, bool forced) {
    const std::shared_ptr<const Graph> graph = quantized.graph();
    if (!graph) return false;
    const uint32_t graphed = graph->size();
    const uint32_t members = part_.nodes.count();
    const uint32_t pending = std::min(members, part_.shard->nodes() - graphed);
    const SearchEffort effort = quantized.effort();
    if (!forced && scanIsCheaper(effort, members, pending, graphed)) return false;

    const bool all = members - pending == graphed;
    const WalkParameters parameters{
        .limit = std::max<size_t>(query_.limit, WALK_MIN_LIMIT),
        .window = effort.windowFor(static_cast<double>(query_.limit)),
        .maxEstimates = forced ? graphed : static_cast<uint64_t>(members / WALK_COST)};
    const auto isMember = [&](uint32_t node) { return all || part_.nodes.has(node); };
    WalkWork work;
    const bool complete = graph->walk(quantized.codes(), scratch_.query, parameters, isMember,
                                      scratch_.graph, scratch_.candidates, work);
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
    // A filtered walk must continue until it has met enough members among the other nodes.
    const double share = std::min(1.0, static_cast<double>(members) / graphed);
    return effort.estimatesFor(query_.limit / share) * WALK_COST + pending > members;
  }

  void rerank(const QuantizedIndex& quantized) {
    const auto start = std::chrono::steady_clock::now();
    std::vector<Candidate>& candidates = scratch_.candidates;
    work_.codes3Bit +=
        rerankBy3BitCodes(quantized, scratch_.query, margin_, neededEstimate(), query_.limit, candidates);
    // These are read for each candidate, at random.
    for (size_t i = 0; i < std::min<size_t>(query_.limit, candidates.size()); i++) {
      part_.shard->prefetchChunks(candidates[i].node);
    }
    rerankByVectors(
        vectors_, quantized, scratch_.query, margin_, query_.vector, prepared_.inverseNorm, candidates,
        [this](uint32_t node, double score) {
          work_.vectors++;
          best_.offerNode(part_, node, score);
        },
        [this] { return neededEstimate(); });
    const auto elapsed = std::chrono::steady_clock::now() - start;
    work_.rescoreMilliseconds += std::chrono::duration<double, std::milli>(elapsed).count();
  }

  /// The estimate that a node must reach to change the answer, error margin included.
  double neededEstimate() const { return best_.minScore() - ESTIMATE_ROUNDING; }

  const ScopePart& part_;
  const VectorTable& vectors_;
  const PreparedQuery& prepared_;
  const Query& query_;
  BestHits& best_;
  SearchWork& work_;
  Scratch& scratch_ = threadScratch();
  /// Standard errors by which the estimate of a 3-bit code may be too low.
  float margin_ = RabitqQuantizer::ERROR_MARGIN;
};

}  // namespace

double exactScore(const VectorTable& vectors, const PreparedQuery& query, uint32_t node) {
  const double dot =
      kernels().dot(query.query.vector, vectors.vector(node), query.query.dimension);
  return cosineOf(dot, query.inverseNorm, vectors.inverseNorm(node));
}

bool isComparedExactly(const ScopePart& part, const Query& query, Method method) {
  return method == Method::EXACT || part.nodes.count() <= std::max(EXACT_MAX_NODES, query.limit);
}

Plan searchShard(const ScopePart& part, const PreparedQuery& query, BestHits& best,
                 SearchWork& work) {
  return ShardSearch(part, query, best, work).run();
}

}  // namespace tessera
