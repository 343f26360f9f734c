#include "project/maintenance.hpp"

#include <algorithm>

namespace tessera {

namespace {

/// The rows of one shard among ranges of ordinals.
RowRanges rowsOf(const Shard& shard, const std::vector<uint32_t>& ordinals) {
  RowRanges rows;
  for (size_t i = 0; i + 1 < ordinals.size(); i += 2) {
    if (ordinals[i] >> Shard::ROW_BITS != shard.number()) continue;
    const uint32_t first = ordinals[i] & (Shard::MAX_ROWS - 1);
    if (first >= shard.rows()) continue;
    rows.insert(rows.end(), {first, std::min(ordinals[i + 1], shard.rows() - first)});
  }
  return rows;
}

bool growGraphs(const Shards& shards, Project& project, unsigned threads) {
  for (const auto& shard : shards) {
    if (shard->recentre(project.writer(), project.closed())) return true;
    if (shard->growGraph(threads, project.closed())) return true;
  }
  return false;
}

bool isComplete(const Shards& shards) {
  for (const auto& shard : shards) {
    if (shard->pendingNodes() > 0) return false;
  }
  return true;
}

}  // namespace

MaintenancePlan::MaintenancePlan(std::shared_ptr<Project> owner, int slotNumber,
                                 std::optional<std::vector<uint32_t>> keptOrdinals)
    : project(std::move(owner)), slot(slotNumber), kept(std::move(keptOrdinals)) {
  if (const std::shared_ptr<Index> index = project->index(slot)) shards = index->shards();
  for (const auto& shard : shards) rows.push_back(shard->rows());
}

MaintenanceResult maintain(const MaintenancePlan& plan, unsigned threads) {
  const auto& [project, slot, shards, rows, kept] = plan;
  // Compactions come first, because a stream of updates always leaves a graph to grow.
  for (size_t i = 0; kept && i < shards.size(); i++) {
    project->prepared = Compaction::prepare(project, slot, shards[i], rows[i],
                                            rowsOf(*shards[i], *kept), threads);
    if (project->prepared) return {true, false, true};
  }
  if (growGraphs(shards, *project, threads)) return {true, false, false};
  if (!isComplete(shards)) return {false, false, false};
  for (const auto& shard : shards) {
    if (shard->calibrate(project->closed())) return {true, false, false};
  }
  return {false, kept.has_value(), false};
}

}  // namespace tessera
