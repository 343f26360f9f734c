// Work that several threads share.
#pragma once
#include <thread>
#include <vector>

#include "common/background.hpp"

namespace tessera {

/// Calls `work(thread)` in `threads` threads, of which this one is number 0, and waits for all.
template <typename Work>
void inThreads(unsigned threads, const Work& work) {
  std::vector<std::jthread> others;
  for (unsigned thread = 1; thread < threads; thread++) {
    others.emplace_back([&work, thread] {
      setPriority(Priority::BUILD);
      work(thread);
    });
  }
  work(0);
}

}  // namespace tessera
