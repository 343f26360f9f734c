#include "binding/jobs.hpp"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "binding/arguments.hpp"
#include "binding/calls.hpp"

namespace tessera {

namespace {

/// It belongs to no JavaScript thread, because the one that began it may be terminated at any time.
struct Job {
  std::atomic<bool> done = false;
  std::string error;
  JobResult result;
};

std::mutex jobsMutex;
uint32_t lastJob = 0;
std::map<uint32_t, std::shared_ptr<Job>>& jobs() {
  static auto* map = new std::map<uint32_t, std::shared_ptr<Job>>();
  return *map;
}

}  // namespace

Napi::Value beginJob(Napi::Env env, std::function<JobResult()> work, Priority priority) {
  const auto job = std::make_shared<Job>();
  std::lock_guard lock(jobsMutex);
  std::thread([job, priority, work = std::move(work)] {
    setPriority(priority);
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
