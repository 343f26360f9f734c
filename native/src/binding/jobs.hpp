// Work on threads of its own, whose result JavaScript awaits.
#pragma once
#include <napi.h>

#include <functional>

#include "common/background.hpp"

namespace tessera {

/// Makes the JavaScript result of a job, on the thread that started it.
using JobResult = std::function<Napi::Value(Napi::Env)>;

/// Runs `work` on a new thread and returns a promise of its result. If the calling thread is terminated,
/// the work continues and the result is dropped.
Napi::Value beginJob(Napi::Env env, std::function<JobResult()> work,
                     Priority priority = Priority::NORMAL);

/// Makes the jobs of the calling thread block it and return their results, or stops that, for tests.
void blockOnJobs(bool blocks);

}  // namespace tessera
