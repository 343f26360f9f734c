// Work on threads of its own, for whose end JavaScript polls.
#pragma once
#include <napi.h>

#include <functional>

namespace tessera {

/// Makes the JavaScript result of a job, on the thread that asks for it.
using JobResult = std::function<Napi::Value(Napi::Env)>;

enum class Priority { NORMAL, BACKGROUND };

/// Runs `work` on a new thread and returns the number of the job, for `finishJob`. Work in the
/// background has the lowest claim to the processor (Linux; elsewhere it is like any other).
Napi::Value beginJob(Napi::Env env, std::function<JobResult()> work,
                     Priority priority = Priority::NORMAL);

}  // namespace tessera
