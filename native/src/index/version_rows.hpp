// Which rows of a shard hold the chunks of a file version.
#pragma once
#include <cstdint>
#include <functional>
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

  /// Calls `visit(row)` for rows of a version, and perhaps of others, which the caller tells apart.
  template <typename Visit>
  void forEach(std::string_view versionId, const Visit& visit) const {
    std::shared_lock lock(mutex_);
    const auto [first, last] = spans_.equal_range(hashOf(versionId));
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

  static uint64_t hashOf(std::string_view versionId) {
    return std::hash<std::string_view>()(versionId);
  }

  mutable std::shared_mutex mutex_;
  std::unordered_multimap<uint64_t, Span> spans_;
  /// The span that was added last; null before the first.
  std::pair<const uint64_t, Span>* last_ = nullptr;
};

}  // namespace tessera
