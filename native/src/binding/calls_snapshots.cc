// Calls that write and read snapshots, each on a thread of its own.
#include <algorithm>

#include "binding/arguments.hpp"
#include "binding/calls.hpp"
#include "binding/jobs.hpp"
#include "snapshot/snapshot.hpp"

namespace tessera {

Napi::Value beginSnapshot(const Napi::CallbackInfo& info) {
  const auto project = projectArgument(info);
  const std::string directory = stringArgument(info, 1, "directory", MAX_PATH_BYTES);
  const Bytes bytes = bytesArgument(info, 2, "meta");
  const std::string meta(reinterpret_cast<const char*>(bytes.data), bytes.length);
  return beginJob(info.Env(), [=]() -> JobResult {
    writeSnapshot(*project, directory, meta);
    return [](Napi::Env env) { return env.Null(); };
  });
}

Napi::Value beginRestore(const Napi::CallbackInfo& info) {
  const std::string id = nameArgument(info, 0, "projectId");
  const std::string directory = stringArgument(info, 1, "directory", MAX_PATH_BYTES);
  return beginJob(info.Env(), [=]() -> JobResult {
    std::string meta;
    std::shared_ptr<Project> project;
    try {
      project = readSnapshot(id, directory, meta);
    } catch (const std::exception& error) {
      throw std::runtime_error(std::string("the snapshot is corrupt: ") + error.what());
    }
    return [=](Napi::Env env) -> Napi::Value {
      if (!project) return env.Null();
      Registry::instance().replace(project);
      auto bytes = Napi::Uint8Array::New(env, meta.size());
      std::copy(meta.begin(), meta.end(), bytes.Data());
      return bytes;
    };
  });
}

}  // namespace tessera
