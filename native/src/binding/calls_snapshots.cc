// Calls that write and read snapshots, each on a thread of its own.
#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "binding/arguments.hpp"
#include "binding/calls.hpp"
#include "snapshot/snapshot.hpp"

namespace tessera {

namespace {

/// Work on a thread of its own. JavaScript polls for its end. It belongs to no JavaScript thread,
/// because the one that began it may be terminated at any time.
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

/// Runs `work` on a new thread and returns the number of the job. `work` returns a function that
/// makes the JavaScript result.
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
    if (entry == jobs().end()) throw std::invalid_argument("the job does not exist");
    if (!entry->second->done) return info.Env().Undefined();
    job = std::move(entry->second);
    jobs().erase(entry);
  }
  if (!job->error.empty()) throw std::runtime_error(job->error);
  return job->result(info.Env());
}

}  // namespace tessera
