// The call that describes a project.
#include <algorithm>

#include "binding/arguments.hpp"
#include "binding/calls.hpp"

namespace tessera {

static Napi::Number number(Napi::Env env, uint64_t value) {
  return Napi::Number::New(env, static_cast<double>(value));
}

namespace {

/// The sums over the shards of an index.
struct IndexStats {
  explicit IndexStats(const Index& index) {
    for (const auto& shard : index.shards()) add(*shard);
  }

  void add(const Shard& shard) {
    const ShardStats numbers = shard.stats();
    codes += numbers.codeBytes;
    vectors += numbers.vectorBytes;
    graph += numbers.graphBytes;
    rendered += numbers.renderedBytes;
    ids += numbers.idBytes;
    chunks += shard.rows();
    nodes += shard.nodes();
    graphed += numbers.graphed;
    window = std::max(window, numbers.effort.window[0]);
    shards++;
  }

  uint64_t codes = 0, vectors = 0, graph = 0, rendered = 0, ids = 0;
  uint64_t chunks = 0, nodes = 0, graphed = 0, shards = 0;
  /// The widest.
  float window = 0;
};

}  // namespace

static Napi::Object indexStats(Napi::Env env, const Index& index) {
  const IndexStats numbers(index);
  const auto bytes = Napi::Object::New(env);
  bytes.Set("codes", number(env, numbers.codes));
  bytes.Set("vectors", number(env, numbers.vectors));
  bytes.Set("graph", number(env, numbers.graph));
  bytes.Set("rendered", number(env, numbers.rendered));
  bytes.Set("ids", number(env, numbers.ids));
  const auto entry = Napi::Object::New(env);
  entry.Set("dimension", number(env, index.dimension()));
  entry.Set("vectors", number(env, numbers.chunks));
  entry.Set("distinct", number(env, numbers.nodes));
  entry.Set("graphed", number(env, numbers.graphed));
  entry.Set("shards", number(env, numbers.shards));
  entry.Set("window", Napi::Number::New(env, numbers.window));
  entry.Set("bytes", bytes);
  return entry;
}

Napi::Value stats(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto project = Registry::instance().find(nameArgument(info, 0, "projectId"));
  if (!project) return env.Null();
  std::lock_guard lock(project->writer());
  const auto dimensions = Napi::Array::New(env);
  for (size_t slot = 0; slot < INDEX_COUNT; slot++) {
    const auto index = project->index(static_cast<int>(slot));
    if (index) dimensions.Set(dimensions.Length(), indexStats(env, *index));
  }
  const auto result = Napi::Object::New(env);
  result.Set("dimensions", dimensions);
  result.Set("scopes", number(env, project->scopes().size()));
  result.Set("scopeBytes", number(env, project->scopeBytes()));
  return result;
}

}  // namespace tessera
