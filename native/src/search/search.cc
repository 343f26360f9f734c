#include "search/search.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <mutex>

#include "kernels/kernels.hpp"
#include "search/helpers.hpp"
#include "search/shard_search.hpp"

namespace tessera {

/// Most members of all shards for which a search counts every chunk that reaches the threshold. Counting
/// that many takes 0.2 ms at 1,536 dimensions.
static constexpr uint64_t COUNT_MAX_NODES = 2'048;
/// Fewest members of all shards for which waking other threads pays off.
static constexpr uint64_t PARALLEL_MIN_NODES = 100'000;

static std::atomic<bool> helpersAllowed{true};

bool allowHelpers(bool allowed) { return helpersAllowed.exchange(allowed); }

namespace {

/// Counts the searches of the process that are running.
class Running {
 public:
  Running() : others_(count_++) {}
  ~Running() { count_--; }
  bool alone() const { return others_ == 0; }

 private:
  static inline std::atomic<uint32_t> count_{0};
  const uint32_t others_;
};

/// A search of several shards, by one thread or by several that call `run`.
class FanOut {
 public:
  FanOut(const ScopeParts& parts, const PreparedQuery& query, Answer& answer)
      : parts_(parts),
        query_(query),
        answer_(answer),
        best_(query.query, query.query.threshold, answer.hits),
        minScore_(query.query.threshold) {}

  void run() {
    std::vector<Hit> hits;
    for (size_t i = next_++; i < parts_.size(); i = next_++) {
      BestHits best(query_.query, minScore_, hits);
      SearchWork work;
      const Plan plan = searchShard(*parts_[i], query_, best, work);
      merge(hits, plan, work);
    }
  }

  void finish() { best_.finish(); }

 private:
  void merge(const std::vector<Hit>& hits, Plan plan, const SearchWork& work) {
    std::lock_guard lock(mutex_);
    for (const Hit& hit : hits) best_.offer(hit);
    minScore_ = best_.minScore();
    answer_.plan = std::max(answer_.plan, plan);
    answer_.work.add(work);
  }

  const ScopeParts& parts_;
  const PreparedQuery& query_;
  Answer& answer_;
  std::mutex mutex_;
  BestHits best_;
  /// The highest known lower bound of the score of a hit.
  std::atomic<double> minScore_;
  std::atomic<size_t> next_{0};
};

uint64_t membersOf(const ScopeParts& parts) {
  uint64_t nodes = 0;
  for (const auto& part : parts) nodes += part->nodes.count();
  return nodes;
}

PreparedQuery prepare(const ScopeParts& parts, const Query& query, Method method) {
  const double squared = kernels().dot(query.vector, query.vector, query.dimension);
  const bool isCounted = query.counts && membersOf(parts) <= COUNT_MAX_NODES;
  PreparedQuery prepared{query, method, isCounted, 1 / std::sqrt(squared), {}};
  const bool exact = std::all_of(parts.begin(), parts.end(), [&](const auto& part) {
    return isComparedExactly(*part, query, method);
  });
  if (exact) return prepared;
  prepared.rotated.resize(query.dimension);
  RabitqQuantizer::prepare(query.vector, prepared.inverseNorm, query.dimension,
                           prepared.rotated.data());
  return prepared;
}

void searchParts(const ScopeParts& parts, const Query& query, Method method, Answer& answer) {
  answer.hits.clear();
  answer.plan = Plan::EMPTY;
  answer.work = SearchWork{};
  if (parts.empty()) return;
  const Running running;
  const PreparedQuery prepared = prepare(parts, query, method);
  if (parts.size() == 1) {
    BestHits best(query, query.threshold, answer.hits);
    answer.plan = searchShard(*parts[0], prepared, best, answer.work);
    best.finish();
  } else {
    FanOut search(parts, prepared, answer);
    if (membersOf(parts) >= PARALLEL_MIN_NODES && running.alone() && helpersAllowed) {
      Helpers::instance().run([&] { search.run(); });
    } else {
      search.run();
    }
    search.finish();
  }
}

/// True when fewer chunks were found than are known to reach the threshold: an estimate has erred by more
/// than its margin.
bool isShort(const Answer& answer, const Query& query) {
  const SearchWork& work = answer.work;
  return work.countsAll && answer.hits.size() < std::min<uint64_t>(query.limit, work.matches);
}

}  // namespace

void search(const Scope& scope, const Query& query, Answer& answer, Method method) {
  const auto start = std::chrono::steady_clock::now();
  const ScopeParts& parts = scope.parts[static_cast<size_t>(dimensionSlot(query.dimension))];
  searchParts(parts, query, method, answer);
  if (isShort(answer, query)) searchParts(parts, query, Method::EXACT, answer);
  const std::chrono::duration<double, std::micro> elapsed =
      std::chrono::steady_clock::now() - start;
  answer.milliseconds = std::round(elapsed.count()) / 1000;
}

}  // namespace tessera
