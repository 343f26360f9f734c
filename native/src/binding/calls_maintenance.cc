// Calls that carry out the background work of an index.
#include <algorithm>

#include "binding/arguments.hpp"
#include "binding/calls.hpp"
#include "binding/jobs.hpp"
#include "project/maintenance.hpp"

namespace tessera {

/// Most threads that build a graph.
static constexpr uint32_t MAX_THREADS = 256;

Napi::Value beginMaintenance(const Napi::CallbackInfo& info) {
  const auto project = projectArgument(info);
  const uint32_t dimension = dimensionArgument(info, 1);
  const uint32_t threads = integerArgument(info, 3, "threads", 1, MAX_THREADS);
  std::optional<std::vector<uint32_t>> kept;
  if (!info[2].IsNull()) kept = pairsArgument(info, 2, "kept");
  const MaintenancePlan plan(project, indexSlot(dimension), std::move(kept));
  const auto work = [plan, threads]() -> JobResult {
    const MaintenanceResult done = maintain(plan, threads);
    return [done](Napi::Env env) -> Napi::Value {
      const auto result = Napi::Object::New(env);
      result.Set("worked", Napi::Boolean::New(env, done.worked));
      result.Set("complete", Napi::Boolean::New(env, done.complete));
      result.Set("compacted", Napi::Boolean::New(env, done.compacted));
      return result;
    };
  };
  return beginJob(info.Env(), work, Priority::BUILD);
}

Napi::Value commitCompaction(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto project = projectArgument(info);
  const std::unique_ptr<Compaction> prepared = std::move(project->prepared);
  if (!prepared) return env.Null();
  const auto rows = prepared->commit(*project);
  if (!rows) return env.Null();
  auto remaining = Napi::Uint32Array::New(env, rows->size());
  std::copy(rows->begin(), rows->end(), remaining.Data());
  const auto result = Napi::Object::New(env);
  result.Set("dimension", Napi::Number::New(env, prepared->dimension()));
  result.Set("shard", Napi::Number::New(env, prepared->shardNumber()));
  result.Set("remaining", remaining);
  return result;
}

Napi::Value setShardNodes(const Napi::CallbackInfo& info) {
  const uint32_t before = Index::shardNodes();
  Index::setShardNodes(integerArgument(info, 0, "nodes", 1, Shard::MAX_ROWS));
  return Napi::Number::New(info.Env(), before);
}

Napi::Value recalibrate(const Napi::CallbackInfo& info) {
  const auto project = projectArgument(info);
  const uint32_t dimension = dimensionArgument(info, 1);
  const auto index = project->index(indexSlot(dimension));
  if (!index) return info.Env().Undefined();
  for (const auto& shard : index->shards()) shard->requestCalibration();
  return info.Env().Undefined();
}

}  // namespace tessera
