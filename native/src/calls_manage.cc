// Calls that change, store or describe projects.
#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

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

/// Work on a thread of its own. It is asked for its end, and belongs to no JavaScript thread: the one
/// that began it may be terminated at any time.
struct Job {
  using Result = std::function<Napi::Value(Napi::Env)>;
  std::atomic<bool> done = false;
  std::string error;
  Result result;
};

std::mutex jobsMutex;
uint32_t lastJob = 0;
std::map<uint32_t, std::shared_ptr<Job>>& jobs() {
  static auto* map = new std::map<uint32_t, std::shared_ptr<Job>>();
  return *map;
}

/// Begins `work`, which returns what makes its result, and returns the number of the job.
Napi::Value begin(Napi::Env env, std::function<Job::Result()> work) {
  const auto job = std::make_shared<Job>();
  std::lock_guard lock(jobsMutex);
  std::thread([job, work = std::move(work)] {
    try {
      job->result = work();
    } catch (const std::exception& error) {
      job->error = error.what();
    }
    job->done = true;
  }).detach();
  jobs()[++lastJob] = job;
  return Napi::Number::New(env, lastJob);
}

}  // namespace

Napi::Value beginSnapshot(const Napi::CallbackInfo& info) {
  const auto project = projectArgument(info);
  const std::string directory = stringArgument(info, 1, "directory", MAX_PATH_BYTES);
  const Bytes bytes = bytesArgument(info, 2, "meta");
  const std::string meta(reinterpret_cast<const char*>(bytes.data), bytes.length);
  return begin(info.Env(), [=]() -> Job::Result {
    writeSnapshot(*project, directory, meta);
    return [](Napi::Env env) { return env.Null(); };
  });
}

Napi::Value beginRestore(const Napi::CallbackInfo& info) {
  const std::string id = nameArgument(info, 0, "projectId");
  const std::string directory = stringArgument(info, 1, "directory", MAX_PATH_BYTES);
  return begin(info.Env(), [=]() -> Job::Result {
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

Napi::Value finishJob(const Napi::CallbackInfo& info) {
  const uint32_t number = integerArgument(info, 0, "job", 1, 0xffffffff);
  std::shared_ptr<Job> job;
  {
    std::lock_guard lock(jobsMutex);
    const auto entry = jobs().find(number);
    if (entry == jobs().end()) throw std::invalid_argument("there is no such job");
    if (!entry->second->done) return info.Env().Undefined();
    job = std::move(entry->second);
    jobs().erase(entry);
  }
  if (!job->error.empty()) throw std::runtime_error(job->error);
  return job->result(info.Env());
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
