// A cache with a least-recently-used policy.
#pragma once
#include <list>
#include <unordered_map>
#include <utility>

namespace tessera {

/// Caches the most recently used values. It belongs to one thread.
template <typename Key, typename Value, typename Hash>
class RecentlyUsed {
 public:
  /// @param capacity maximum number of values
  explicit RecentlyUsed(size_t capacity) : capacity_(capacity) {}

  /// The value of a key, computed by `make()` on a miss. The reference is valid for the next `capacity - 1` calls.
  template <typename Make>
  const Value& get(const Key& key, const Make& make) {
    if (const auto known = known_.find(key); known != known_.end()) {
      entries_.splice(entries_.begin(), entries_, known->second);
      return known->second->second;
    }
    Value value = make();
    if (entries_.size() >= capacity_) {
      known_.erase(entries_.back().first);
      entries_.pop_back();
    }
    entries_.emplace_front(key, std::move(value));
    known_.emplace(key, entries_.begin());
    return entries_.front().second;
  }

 private:
  using Entries = std::list<std::pair<Key, Value>>;

  const size_t capacity_;
  /// The values, most recently used first.
  Entries entries_;
  std::unordered_map<Key, typename Entries::iterator, Hash> known_;
};

}  // namespace tessera
