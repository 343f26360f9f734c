// Work that several threads share.
#pragma once
#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "common/background.hpp"

namespace tessera {

/// Calls `work(thread)` in `threads` threads, of which this one is number 0, and waits for all. Rethrows
/// an exception of a thread here, because an exception that leaves a thread terminates the process. Half
/// of the threads have the priority of building. The others have the lowest priority and use idle cores.
/// So a service that searches keeps half of its cores, and all cores build an import while no search runs.
template <typename Work>
void inThreads(unsigned threads, const Work& work) {
  std::mutex failing;
  std::exception_ptr failure;
  const auto run = [&](unsigned thread) {
    try {
      work(thread);
    } catch (...) {
      std::lock_guard lock(failing);
      failure = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    for (unsigned thread = 1; thread < threads; thread++) {
      others.emplace_back([&run, thread, threads] {
        setPriority(thread < std::max(1u, threads / 2) ? Priority::BUILD : Priority::LOWEST);
        run(thread);
      });
    }
    run(0);
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace tessera
