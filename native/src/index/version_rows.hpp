// Which rows of a shard hold the chunks of a file version.
#pragma once
#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <string_view>
#include <unordered_map>

namespace tessera {

/// One writer adds rows while any number of threads read.
class VersionRows {
 public:
  /// Notes a row, which is greater than those before, by the rendered text of its chunk.
  void add(std::string_view chunkText, uint32_t row);

  /// Calls `visit(row)` for the rows of a version, ascending by the index of the chunk.
  template <typename Visit>
  void forEach(std::string_view versionId, const Visit& visit) const {
    std::shared_lock lock(mutex_);
    const auto [first, last] = spans_.equal_range(keyOf(versionId));
    for (auto span = first; span != last; ++span) {
      for (uint32_t i = 0; i < span->second.count; i++) visit(span->second.first + i);
    }
  }

  uint64_t bytes() const;

 private:
  struct Span {
    uint32_t first;
    uint32_t count;
  };

  /// A UUID, or the hash of another id.
  struct Key {
    uint64_t high;
    uint64_t low;

    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const { return key.high ^ key.low * 0x9e3779b97f4a7c15; }
  };

  static Key keyOf(std::string_view versionId);

  mutable std::shared_mutex mutex_;
  std::unordered_multimap<Key, Span, KeyHash> spans_;
  /// The span that was added last; null before the first.
  std::pair<const Key, Span>* last_ = nullptr;
};

}  // namespace tessera
