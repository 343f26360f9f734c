// Calls that change and list projects.
#include "binding/arguments.hpp"
#include "binding/calls.hpp"

namespace tessera {

Napi::Value openProject(const Napi::CallbackInfo& info) {
  Registry::instance().open(nameArgument(info, 0, "projectId"));
  return info.Env().Undefined();
}

Napi::Value dropProject(const Napi::CallbackInfo& info) {
  Registry::instance().drop(nameArgument(info, 0, "projectId"));
  return info.Env().Undefined();
}

Napi::Value append(const Napi::CallbackInfo& info) {
  const auto project = projectArgument(info);
  const uint32_t dimension = dimensionArgument(info, 1);
  const Batch batch = batchArgument(info, 2, dimension);
  std::lock_guard lock(project->writer());
  const auto index = project->openIndex(dimensionSlot(dimension));
  return Napi::Number::New(info.Env(), index->append(batch));
}

Napi::Value extendGraph(const Napi::CallbackInfo& info) {
  const auto project = projectArgument(info);
  const uint32_t dimension = dimensionArgument(info, 1);
  const uint32_t most = integerArgument(info, 2, "maxVectors", 1, MAX_ROWS);
  std::lock_guard lock(project->writer());
  const auto index = project->index(dimensionSlot(dimension));
  return Napi::Number::New(info.Env(), index ? index->extendGraph(most) : 0);
}

Napi::Value recalibrate(const Napi::CallbackInfo& info) {
  const auto project = projectArgument(info);
  const uint32_t dimension = dimensionArgument(info, 1);
  std::lock_guard lock(project->writer());
  const auto index = project->index(dimensionSlot(dimension));
  if (index) index->requestCalibration();
  return info.Env().Undefined();
}

Napi::Value setScope(const Napi::CallbackInfo& info) {
  const auto project = projectArgument(info);
  const std::string scopeId = nameArgument(info, 1, "scopeId");
  project->setScope(scopeId, rangesArgument(info, 2));
  return info.Env().Undefined();
}

Napi::Value dropScope(const Napi::CallbackInfo& info) {
  const auto project = projectArgument(info);
  project->dropScope(nameArgument(info, 1, "scopeId"));
  return info.Env().Undefined();
}

Napi::Value hasScope(const Napi::CallbackInfo& info) {
  const auto project = Registry::instance().find(nameArgument(info, 0, "projectId"));
  const std::string scopeId = nameArgument(info, 1, "scopeId");
  return Napi::Boolean::New(info.Env(), project && project->scope(scopeId) != nullptr);
}

Napi::Value projects(const Napi::CallbackInfo& info) {
  const auto names = Napi::Array::New(info.Env());
  for (const std::string& name : Registry::instance().names()) {
    names.Set(names.Length(), Napi::String::New(info.Env(), name));
  }
  return names;
}

}  // namespace tessera
