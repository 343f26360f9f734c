// Calls that change, store or describe projects.
#include <functional>

#include "arguments.hpp"
#include "calls.hpp"
#include "files.hpp"
#include "snapshot.hpp"
#include "thread.hpp"

namespace tessera {

static std::shared_ptr<Project> projectArgument(const Napi::CallbackInfo& info) {
  const std::string id = nameArgument(info, 0, "projectId");
  std::shared_ptr<Project> project = Registry::instance().find(id);
  if (!project) throw Napi::Error::New(info.Env(), "the project is not open");
  return project;
}

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

Napi::Value snapshot(const Napi::CallbackInfo& info) {
  const auto project = projectArgument(info);
  const std::string directory = stringArgument(info, 1, "directory", MAX_PATH_BYTES);
  const Bytes meta = bytesArgument(info, 2, "meta");
  writeSnapshot(*project, directory, {reinterpret_cast<const char*>(meta.data), meta.length});
  return info.Env().Undefined();
}

Napi::Value restore(const Napi::CallbackInfo& info) {
  const std::string id = nameArgument(info, 0, "projectId");
  const std::string directory = stringArgument(info, 1, "directory", MAX_PATH_BYTES);
  std::string meta;
  std::shared_ptr<Project> project;
  try {
    project = readSnapshot(id, directory, meta);
  } catch (const std::exception& error) {
    throw Napi::Error::New(info.Env(), std::string("the snapshot is corrupt: ") + error.what());
  }
  if (!project) return info.Env().Null();
  Registry::instance().replace(std::move(project));
  auto bytes = Napi::Uint8Array::New(info.Env(), meta.size());
  std::copy(meta.begin(), meta.end(), bytes.Data());
  return bytes;
}

namespace {

/// Work that a thread of the runtime's pool does, and a promise of its end.
class Later : public Napi::AsyncWorker {
 public:
  using Work = std::function<void()>;
  using Result = std::function<Napi::Value(Napi::Env)>;

  static Napi::Value run(Napi::Env env, Work work, Result result) {
    auto* later = new Later(env, std::move(work), std::move(result));
    const Napi::Value promise = later->deferred_.Promise();
    later->Queue();
    return promise;
  }

  void Execute() override { work_(); }
  void OnOK() override { deferred_.Resolve(result_(Env())); }
  void OnError(const Napi::Error& error) override { deferred_.Reject(error.Value()); }

 private:
  Later(Napi::Env env, Work work, Result result)
      : Napi::AsyncWorker(env), deferred_(env), work_(std::move(work)),
        result_(std::move(result)) {}

  Napi::Promise::Deferred deferred_;
  Work work_;
  Result result_;
};

}  // namespace

Napi::Value snapshotLater(const Napi::CallbackInfo& info) {
  const auto project = projectArgument(info);
  const std::string directory = stringArgument(info, 1, "directory", MAX_PATH_BYTES);
  const Bytes bytes = bytesArgument(info, 2, "meta");
  const std::string meta(reinterpret_cast<const char*>(bytes.data), bytes.length);
  return Later::run(
      info.Env(), [=] { writeSnapshot(*project, directory, meta); },
      [](Napi::Env env) { return env.Undefined(); });
}

Napi::Value restoreLater(const Napi::CallbackInfo& info) {
  const std::string id = nameArgument(info, 0, "projectId");
  const std::string directory = stringArgument(info, 1, "directory", MAX_PATH_BYTES);
  struct Restored {
    std::shared_ptr<Project> project;
    std::string meta;
  };
  const auto restored = std::make_shared<Restored>();
  const auto read = [=] {
    try {
      restored->project = readSnapshot(id, directory, restored->meta);
    } catch (const std::exception& error) {
      throw std::runtime_error(std::string("the snapshot is corrupt: ") + error.what());
    }
  };
  return Later::run(info.Env(), read, [=](Napi::Env env) -> Napi::Value {
    if (!restored->project) return env.Null();
    Registry::instance().replace(std::move(restored->project));
    return Napi::Buffer<uint8_t>::Copy(
        env, reinterpret_cast<const uint8_t*>(restored->meta.data()), restored->meta.size());
  });
}

Napi::Value stats(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto project = Registry::instance().find(nameArgument(info, 0, "projectId"));
  if (!project) return env.Null();
  std::lock_guard lock(project->writer());
  const auto dimensions = Napi::Array::New(env);
  for (size_t slot = 0; slot < DIMENSION_COUNT; slot++) {
    const auto index = project->index(static_cast<int>(slot));
    if (!index) continue;
    const IndexStats numbers = index->stats();
    const auto bytes = Napi::Object::New(env);
    bytes.Set("codes", Napi::Number::New(env, static_cast<double>(numbers.codeBytes)));
    bytes.Set("vectors", Napi::Number::New(env, static_cast<double>(numbers.vectorBytes)));
    bytes.Set("graph", Napi::Number::New(env, static_cast<double>(numbers.graphBytes)));
    bytes.Set("rendered", Napi::Number::New(env, static_cast<double>(numbers.renderedBytes)));
    bytes.Set("ids", Napi::Number::New(env, static_cast<double>(numbers.idBytes)));
    const auto entry = Napi::Object::New(env);
    entry.Set("dimension", Napi::Number::New(env, index->dimension()));
    entry.Set("vectors", Napi::Number::New(env, index->ordinals()));
    entry.Set("distinct", Napi::Number::New(env, index->nodes()));
    entry.Set("graphed", Napi::Number::New(env, numbers.graphed));
    entry.Set("expansion", Napi::Number::New(env, numbers.expansion));
    entry.Set("bytes", bytes);
    dimensions.Set(dimensions.Length(), entry);
  }
  const auto result = Napi::Object::New(env);
  result.Set("dimensions", dimensions);
  result.Set("scopes", Napi::Number::New(env, static_cast<double>(project->scopes().size())));
  result.Set("scopeBytes", Napi::Number::New(env, static_cast<double>(project->scopeBytes())));
  return result;
}

Napi::Value projects(const Napi::CallbackInfo& info) {
  const auto names = Napi::Array::New(info.Env());
  for (const std::string& name : Registry::instance().names()) {
    names.Set(names.Length(), Napi::String::New(info.Env(), name));
  }
  return names;
}

Napi::Value tryLockFile(const Napi::CallbackInfo& info) {
  const int handle = lockFile(stringArgument(info, 0, "path", MAX_PATH_BYTES));
  if (handle < 0) return info.Env().Null();
  return Napi::Number::New(info.Env(), handle);
}

Napi::Value unlockFileCall(const Napi::CallbackInfo& info) {
  unlockFile(static_cast<int>(integerArgument(info, 0, "handle", 0, 0x7fffffff)));
  return info.Env().Undefined();
}

Napi::Value lowerThreadPriorityCall(const Napi::CallbackInfo& info) {
  lowerThreadPriority();
  return info.Env().Undefined();
}

}  // namespace tessera
