// The call that describes a project.
#include "binding/arguments.hpp"
#include "binding/calls.hpp"

namespace tessera {

static Napi::Number number(Napi::Env env, uint64_t value) {
  return Napi::Number::New(env, static_cast<double>(value));
}

static Napi::Object indexStats(Napi::Env env, const Index& index) {
  const IndexStats numbers = index.stats();
  const auto bytes = Napi::Object::New(env);
  bytes.Set("codes", number(env, numbers.codeBytes));
  bytes.Set("vectors", number(env, numbers.vectorBytes));
  bytes.Set("graph", number(env, numbers.graphBytes));
  bytes.Set("rendered", number(env, numbers.renderedBytes));
  bytes.Set("ids", number(env, numbers.idBytes));
  const auto entry = Napi::Object::New(env);
  entry.Set("dimension", number(env, index.dimension()));
  entry.Set("vectors", number(env, index.ordinals()));
  entry.Set("distinct", number(env, index.nodes()));
  entry.Set("graphed", number(env, numbers.graphed));
  entry.Set("window", Napi::Number::New(env, numbers.effort.window[0]));
  entry.Set("bytes", bytes);
  return entry;
}

Napi::Value stats(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto project = Registry::instance().find(nameArgument(info, 0, "projectId"));
  if (!project) return env.Null();
  std::lock_guard lock(project->writer());
  const auto dimensions = Napi::Array::New(env);
  for (size_t slot = 0; slot < DIMENSION_COUNT; slot++) {
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
