// A pointer that is replaced while others read it.
#pragma once
#include <memory>
#include <mutex>
#include <utility>

namespace tessera {

/// Does the same as `std::atomic<std::shared_ptr<T>>`, which in GCC 12 lacks a barrier between a load and the next
/// store.
template <typename T>
class Published {
 public:
  Published() = default;
  explicit Published(std::shared_ptr<T> value) : value_(std::move(value)) {}

  std::shared_ptr<T> load() const {
    std::lock_guard lock(mutex_);
    return value_;
  }

  /// The old value is released outside the lock, because freeing much memory takes long.
  void store(std::shared_ptr<T> value) {
    std::unique_lock lock(mutex_);
    value_.swap(value);
    lock.unlock();
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<T> value_;
};

}  // namespace tessera
