// Work on threads of its own, for whose end JavaScript polls.
#pragma once
#include <napi.h>

#include <functional>

#include "common/background.hpp"

namespace tessera {

/// Makes the JavaScript result of a job, on the thread that asks for it.
using JobResult = std::function<Napi::Value(Napi::Env)>;

/// Runs `work` on a new thread and returns the number of the job, for `finishJob`.
Napi::Value beginJob(Napi::Env env, std::function<JobResult()> work,
                     Priority priority = Priority::NORMAL);

}  // namespace tessera
