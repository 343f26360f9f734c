#include "binding/jobs.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

namespace tessera {

namespace {

struct Job {
  napi_deferred promise = nullptr;
  std::string error;
  JobResult result;

  void run(const std::function<JobResult()>& work, Priority priority) {
    setPriority(priority);
    try {
      result = work();
    } catch (const std::exception& failure) {
      error = failure.what();
    }
  }

  [[nodiscard]] Napi::Value valueOrThrow(Napi::Env env) const {
    if (!error.empty()) throw std::runtime_error(error);
    return result(env);
  }
};

/// True while jobs block the thread that starts them.
thread_local bool isBlocked = false;

void reject(napi_env env, napi_deferred promise, const char* message) {
  napi_value text = nullptr;
  napi_value error = nullptr;
  napi_create_string_utf8(env, message, NAPI_AUTO_LENGTH, &text);
  napi_create_error(env, nullptr, text, &error);
  napi_reject_deferred(env, promise, error);
}

/// Settles the promise of a job, on the thread that started it. The environment is null when that
/// thread is being terminated. Errors of the wrappers of node-addon-api mean the same.
void settle(napi_env env, napi_value /*function*/, void* /*context*/, void* data) noexcept {
  const std::unique_ptr<Job> job(static_cast<Job*>(data));
  if (env == nullptr) return;
  try {
    const Napi::HandleScope scope(env);
    napi_resolve_deferred(env, job->promise, job->valueOrThrow(env));
  } catch (const Napi::Error&) {
  } catch (const std::exception& error) {
    reject(env, job->promise, error.what());
  }
}

Napi::Value runBlocking(Napi::Env env, const std::function<JobResult()>& work, Priority priority) {
  Job job;
  // The priority of a thread cannot be raised again.
  std::thread([&] { job.run(work, priority); }).join();
  return job.valueOrThrow(env);
}

}  // namespace

Napi::Value beginJob(Napi::Env env, std::function<JobResult()> work, Priority priority) {
  if (isBlocked) return runBlocking(env, work, priority);
  auto job = std::make_unique<Job>();
  napi_value promise = nullptr;
  NAPI_THROW_IF_FAILED(env, napi_create_promise(env, &job->promise, &promise), Napi::Value());
  napi_threadsafe_function finished = nullptr;
  const auto name = Napi::String::New(env, "job");
  NAPI_THROW_IF_FAILED(env,
                       napi_create_threadsafe_function(env, nullptr, nullptr, name, 0, 1, nullptr,
                                                       nullptr, nullptr, settle, &finished),
                       Napi::Value());
  std::thread([finished, priority, work = std::move(work), job = std::move(job)]() mutable {
    job->run(work, priority);
    // Once the thread that started the job is being terminated, the function must not be used again.
    const auto status = napi_call_threadsafe_function(finished, job.get(), napi_tsfn_nonblocking);
    if (status == napi_closing) return;
    if (status == napi_ok) static_cast<void>(job.release());
    napi_release_threadsafe_function(finished, napi_tsfn_release);
  }).detach();
  return Napi::Value(env, promise);
}

void blockOnJobs(bool blocks) { isBlocked = blocks; }

}  // namespace tessera
