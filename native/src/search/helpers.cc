#include "search/helpers.hpp"

#include <algorithm>

namespace tessera {

/// More threads than this gain little, because the largest shard takes as long as all threads.
static constexpr size_t MAX_HELPERS = 7;

Helpers& Helpers::instance() {
  // Never destroyed, because its threads never end.
  static auto* helpers = new Helpers(
      std::min<size_t>(std::max(1u, std::thread::hardware_concurrency()) - 1, MAX_HELPERS));
  return *helpers;
}

Helpers::Helpers(size_t threads) {
  for (size_t i = 0; i < threads; i++) std::thread([this] { serve(); }).detach();
}

void Helpers::serve() {
  uint64_t served = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [&] { return work_ != nullptr && turn_ != served; });
    served = turn_;
    const std::function<void()>& work = *work_;
    working_++;
    lock.unlock();
    work();
    lock.lock();
    if (--working_ == 0) idle_.notify_one();
  }
}

void Helpers::run(const std::function<void()>& work) {
  std::unique_lock owner(owner_, std::try_to_lock);
  if (!owner.owns_lock()) return work();
  {
    std::lock_guard lock(mutex_);
    work_ = &work;
    turn_++;
  }
  wake_.notify_all();
  work();
  std::unique_lock lock(mutex_);
  work_ = nullptr;
  idle_.wait(lock, [&] { return working_ == 0; });
}

}  // namespace tessera
