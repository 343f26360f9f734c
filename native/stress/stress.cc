// A concurrent workload for sanitizers: one thread appends, names and drops scopes and commits compactions. Another
// maintains with several builders. Others search, write and restore snapshots, and drop projects.
//
// Usage: stress SECONDS FOLDER. It continues until compactions were committed as well. It fails without a compaction,
// for a wrong answer, or for a snapshot that cannot be restored. A sanitizer ends it for any other error.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <string>
#include <thread>

#include "project/maintenance.hpp"
#include "search/search.hpp"
#include "snapshot/snapshot.hpp"

using namespace tessera;

namespace {

constexpr uint32_t DIMENSION = 768;
constexpr int SLOT = 0;
/// Slightly more than the minimum for a graph.
constexpr uint32_t SHARD_NODES = GRAPH_MIN_NODES + 200;
constexpr uint32_t STABLE = SHARD_NODES + 500;
constexpr uint32_t BATCH = 250;
/// Batches that are in a scope at a time; older ones are deleted.
constexpr uint32_t LIVE_BATCHES = 3;
constexpr uint32_t MOST_VECTORS = STABLE + 120 * BATCH;
/// Vectors that are appended before the first compaction. Under a sanitizer the graphs that are built
/// before it take minutes.
constexpr uint32_t FIRST_VECTORS = STABLE + 40 * BATCH;
constexpr uint32_t LEAST_COMPACTIONS = 2;
constexpr std::chrono::minutes PATIENCE{30};

std::atomic<bool> stopping{false};
std::vector<float> vectors;

[[noreturn]] void fail(const std::string& reason) {
  std::fprintf(stderr, "%s\n", reason.c_str());
  std::abort();
}

void makeVectors() {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> element(-1, 1);
  vectors.resize(size_t{MOST_VECTORS} * DIMENSION);
  for (float& value : vectors) value = element(random);
}

const float* vectorOf(uint32_t number) { return vectors.data() + size_t{number} * DIMENSION; }

ChunkId idOf(uint32_t number) {
  ChunkId id{};
  std::memcpy(id.bytes, &number, sizeof number);
  return id;
}

uint32_t numberOf(const Hit& hit) {
  uint32_t number;
  std::memcpy(&number, hit.shard->id(hit.row).bytes, sizeof number);
  return number;
}

std::vector<uint32_t> append(Project& project, uint32_t first, uint32_t count) {
  std::vector<ChunkId> ids;
  std::string texts;
  std::vector<uint32_t> ends;
  for (uint32_t i = 0; i < count; i++) {
    ids.push_back(idOf(first + i));
    texts += std::to_string(first + i);
    ends.push_back(static_cast<uint32_t>(texts.size()));
  }
  std::lock_guard lock(project.writer());
  return project.openIndex(SLOT)->append(Batch{count, ids.data(), vectorOf(first), texts, ends.data()});
}

ScopeRanges scopeOf(const std::vector<uint32_t>& ordinals) {
  ScopeRanges ranges{DIMENSION, {}};
  for (const uint32_t ordinal : ordinals) ranges.pairs.insert(ranges.pairs.end(), {ordinal, 1});
  return ranges;
}

/// The ordinals of chunks by their numbers, as the indexing thread keeps them.
class Numbering {
 public:
  void add(uint32_t first, const std::vector<uint32_t>& ordinals) {
    for (uint32_t i = 0; i < ordinals.size(); i++) ordinals_[first + i] = ordinals[i];
  }
  void forget(uint32_t first, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) ordinals_.erase(first + i);
  }
  std::vector<uint32_t> from(uint32_t first, uint32_t count) const {
    std::vector<uint32_t> found;
    for (uint32_t i = 0; i < count; i++) found.push_back(ordinals_.at(first + i));
    return found;
  }
  void renumber(uint32_t shard, const RowRanges& remaining) {
    std::map<uint32_t, uint32_t> rows;
    uint32_t next = 0;
    for (size_t i = 0; i < remaining.size(); i += 2) {
      for (uint32_t row = 0; row < remaining[i + 1]; row++) rows[remaining[i] + row] = next++;
    }
    for (auto& [number, ordinal] : ordinals_) {
      if (ordinal >> Shard::ROW_BITS != shard) continue;
      const auto row = rows.find(ordinal & (Shard::MAX_ROWS - 1));
      if (row == rows.end()) fail("a compaction dropped a live chunk");
      ordinal = shard << Shard::ROW_BITS | row->second;
    }
  }

 private:
  std::map<uint32_t, uint32_t> ordinals_;
};

void searchOnce(const Scope& scope, uint32_t number, Answer& answer) {
  search(scope, Query{vectorOf(number), DIMENSION, 10, -1}, answer);
  if (answer.hits.size() != 10) fail("an answer is short");
  if (numberOf(answer.hits[0]) != number) fail("an answer lacks its best chunk");
  for (const Hit& hit : answer.hits) {
    if (hit.shard->text(hit.row) != std::to_string(numberOf(hit))) fail("a chunk is torn");
  }
}

/// Searches the scope that never changes. Its own chunk is the best answer, also by a graph.
void keepSearching(const std::string& name, uint32_t seed) {
  std::mt19937 random(seed);
  Answer answer;
  while (!stopping) {
    const auto project = Registry::instance().find(name);
    const auto scope = project ? project->scope("stable") : nullptr;
    if (!scope) {
      std::this_thread::yield();
      continue;
    }
    searchOnce(*scope, random() % STABLE, answer);
    if (const auto recent = project->scope("recent")) {
      search(*recent, Query{vectorOf(random() % MOST_VECTORS), DIMENSION, 10, -1}, answer);
    }
  }
}

/// A plan is made by the writer, carried out by another thread, and committed by the writer.
class Maintainer {
 public:
  explicit Maintainer(std::shared_ptr<Project> project) : project_(std::move(project)) {}
  ~Maintainer() { join(); }

  /// Called by the writer between its changes.
  void poll(Numbering& numbering) {
    if (running_) return;
    join();
    if (result_.compacted) {
      const auto prepared = std::move(project_->prepared);
      const uint32_t shard = prepared->shardNumber();
      if (const auto remaining = prepared->commit(*project_)) {
        numbering.renumber(shard, *remaining);
        commits++;
      }
    }
    running_ = true;
    thread_ = std::thread([this, plan = MaintenancePlan(project_, SLOT, RowRanges{})] {
      result_ = maintain(plan, 2);
      running_ = false;
    });
  }

  uint32_t commits = 0;

 private:
  void join() {
    if (thread_.joinable()) thread_.join();
  }

  std::shared_ptr<Project> project_;
  std::thread thread_;
  std::atomic<bool> running_{false};
  MaintenanceResult result_;
};

uint32_t keepWriting(const std::shared_ptr<Project>& project, Numbering numbering,
                     std::chrono::seconds duration) {
  const auto until = std::chrono::steady_clock::now() + duration;
  Maintainer maintainer(project);
  uint32_t next = STABLE;
  uint32_t oldest = STABLE;
  const auto goesOn = [&] {
    const auto now = std::chrono::steady_clock::now();
    return now < until || (maintainer.commits < LEAST_COMPACTIONS && now < until + PATIENCE);
  };
  while (goesOn()) {
    if (next + BATCH <= (maintainer.commits == 0 ? FIRST_VECTORS : MOST_VECTORS)) {
      numbering.add(next, append(*project, next, BATCH));
      next += BATCH;
    }
    if (next - oldest > LIVE_BATCHES * BATCH) {
      numbering.forget(oldest, BATCH);
      oldest += BATCH;
    }
    project->setScope("recent", {scopeOf(numbering.from(oldest, next - oldest))});
    project->setScope("brief", {});
    project->dropScope("brief");
    maintainer.poll(numbering);
    std::this_thread::sleep_for(duration / 100);
  }
  // Otherwise a build in progress would take long.
  project->close();
  return maintainer.commits;
}

/// Writes snapshots of the project and opens each as another one, which is searched and dropped.
void keepSaving(const std::shared_ptr<Project>& project, const std::string& folder) {
  Answer answer;
  std::filesystem::create_directories(folder);
  for (uint32_t round = 0; !stopping; round++) {
    const std::vector<SnapshotFile> files = writeSnapshot(*project, folder);
    const auto copy = readSnapshot(project->id(), files);
    // No later snapshot has the file of the state.
    std::filesystem::remove(files[0].path());
    searchOnce(*copy->scope("stable"), round % STABLE, answer);
    const auto other = Registry::instance().open("other");
    other->openIndex(SLOT);
    Registry::instance().drop("other");
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) fail("usage: stress SECONDS FOLDER");
  const std::chrono::seconds duration{std::atoi(arguments[1])};
  makeVectors();
  Index::setShardNodes(SHARD_NODES);
  const auto project = Registry::instance().open("stress");
  Numbering numbering;
  numbering.add(0, append(*project, 0, STABLE));
  project->setScope("stable", {scopeOf(numbering.from(0, STABLE))});
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < 2; i++) threads.emplace_back(keepSearching, "stress", i);
  threads.emplace_back(keepSaving, project, std::string(arguments[2]) + "/snapshot");
  const uint32_t commits = keepWriting(project, std::move(numbering), duration);
  stopping = true;
  for (std::thread& thread : threads) thread.join();
  Registry::instance().drop("stress");
  if (commits < LEAST_COMPACTIONS) fail("hardly any compaction was committed");
  std::printf("%u compactions\n", commits);
  return 0;
}
