// The background work of an index: new generations of its graphs, compactions, and calibrations.
#pragma once
#include "project/compaction.hpp"

namespace tessera {

struct MaintenanceResult {
  /// A step was done, so there may be more.
  bool worked = false;
  /// Nothing is left until the index changes.
  bool complete = false;
  /// `project.prepared` waits for its commit.
  bool compacted = false;
};

/// The projects that maintenance works on, noted by the writer.
struct MaintenancePlan {
  /// `kept` has the ordinals, as (first, count) pairs, of chunks that no scope may have yet, but must
  /// stay; chunks that are appended later stay too. Without it nothing is compacted.
  MaintenancePlan(std::shared_ptr<Project> project, int slot,
                  std::optional<std::vector<uint32_t>> kept);

  std::shared_ptr<Project> project;
  int slot;
  Shards shards;
  /// Rows that each of the shards has.
  std::vector<uint32_t> rows;
  std::optional<std::vector<uint32_t>> kept;
};

/// Does one step, which may take minutes. One thread per project at a time.
MaintenanceResult maintain(const MaintenancePlan& plan, unsigned threads);

}  // namespace tessera
