// Values that are kept while they are used.
#pragma once
#include <list>
#include <unordered_map>
#include <utility>

namespace tessera {

/// Keeps the values that were used most recently. It belongs to one thread.
template <typename Key, typename Value, typename Hash>
class RecentlyUsed {
 public:
  /// @param capacity the most values that are kept
  explicit RecentlyUsed(size_t capacity) : capacity_(capacity) {}

  /// The value of a key, made by `make()` if it is not kept. It stays where it is for the next `capacity - 1` calls.
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
  /// The most recently used first.
  Entries entries_;
  std::unordered_map<Key, typename Entries::iterator, Hash> known_;
};

}  // namespace tessera
