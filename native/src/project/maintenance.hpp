// The background work of an index: new generations of its graphs, compactions, and calibrations.
#pragma once
#include "project/compaction.hpp"

namespace tessera {

struct MaintenanceResult {
  /// Whether a step was done. Further steps may follow.
  bool worked = false;
  /// Whether all work is done until the index changes.
  bool complete = false;
  /// Whether `project.prepared` waits for its commit.
  bool compacted = false;
};

/// The work of a maintenance step, prepared by the writer.
struct MaintenancePlan {
  /// `kept` has the ordinals, as (first, count) pairs, of chunks that must stay although they may not be in a scope
  /// yet. Chunks that are appended later stay as well. Without `kept`, no shard is compacted.
  MaintenancePlan(std::shared_ptr<Project> project, int slot,
                  std::optional<std::vector<uint32_t>> kept);

  std::shared_ptr<Project> project;
  int slot;
  Shards shards;
  /// The number of rows of each shard.
  std::vector<uint32_t> rows;
  std::optional<std::vector<uint32_t>> kept;
};

/// Does one step, which may take minutes. One thread per project at a time.
MaintenanceResult maintain(const MaintenancePlan& plan, unsigned threads);

}  // namespace tessera
