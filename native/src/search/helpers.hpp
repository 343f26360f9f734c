// Threads that join a search while no other search runs.
#pragma once
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace tessera {

class Helpers {
 public:
  /// The helpers of the process, one per further core. They are started by the first search that needs
  /// them.
  static Helpers& instance();

  /// Calls `work` on this thread, and on the helpers unless another search uses them. Returns when all calls
  /// have returned.
  void run(const std::function<void()>& work);

 private:
  explicit Helpers(size_t threads);
  void serve();

  /// Held by the search that uses the helpers.
  std::mutex owner_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable idle_;
  /// The work of a helper that wakes up; null once the search has ended.
  const std::function<void()>* work_ = nullptr;
  /// Counts the searches, so that a helper takes part once in each.
  uint64_t turn_ = 0;
  size_t working_ = 0;
};

}  // namespace tessera
