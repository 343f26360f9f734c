// Calls that change and list projects.
#include <algorithm>
#include <set>
#include <string>

#include "binding/arguments.hpp"
#include "binding/calls.hpp"
#include "fields/shared_fields.hpp"

namespace tessera {

Napi::Value openProject(const Napi::CallbackInfo& info) {
  Registry::instance().open(nameArgument(info, 0, "projectId"));
  return info.Env().Undefined();
}

Napi::Value dropProject(const Napi::CallbackInfo& info) {
  const std::string project = nameArgument(info, 0, "projectId");
  Registry::instance().drop(project);
  SharedFields::instance().drop(project);
  return info.Env().Undefined();
}

Napi::Value append(const Napi::CallbackInfo& info) {
  const auto project = projectArgument(info);
  const uint32_t dimension = dimensionArgument(info, 1);
  const Batch batch = batchArgument(info, 2, dimension);
  std::lock_guard lock(project->writer());
  const auto index = project->openIndex(indexSlot(dimension));
  const std::vector<uint32_t> ordinals = index->append(batch);
  auto result = Napi::Uint32Array::New(info.Env(), ordinals.size());
  std::copy(ordinals.begin(), ordinals.end(), result.Data());
  return result;
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
  // An engine without vectors shares fields only.
  std::set<std::string> all;
  for (const auto& some : {Registry::instance().names(), SharedFields::instance().names()}) {
    all.insert(some.begin(), some.end());
  }
  const auto names = Napi::Array::New(info.Env());
  for (const std::string& name : all) names.Set(names.Length(), Napi::String::New(info.Env(), name));
  return names;
}

}  // namespace tessera
