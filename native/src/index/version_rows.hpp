// The rows of a shard that hold the chunks of each file version.
#pragma once
#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <string_view>
#include <vector>

#include "common/version_key.hpp"

namespace tessera {

/// One writer adds rows while any number of threads read.
class VersionRows {
 public:
  /// Adds a row, which is greater than earlier rows, by the rendered text of its chunk.
  void add(std::string_view chunkText, uint32_t row);

  /// Keeps the writer from adding rows.
  class Reader {
   public:
    explicit Reader(const VersionRows& rows) : rows_(rows), lock_(rows.mutex_) {}

    /// Prefetches the rows of a version.
    void prefetch(VersionKey version) const {
      if (!rows_.slots_.empty()) __builtin_prefetch(&rows_.slots_[rows_.startOf(version)]);
    }

    /// Calls `visit(row)` for the rows of a version until it returns false.
    template <typename Visit>
    void forEach(VersionKey version, const Visit& visit) const {
      const auto& slots = rows_.slots_;
      if (slots.empty()) return;
      for (size_t at = rows_.startOf(version); slots[at].count > 0; at = (at + 1) & (slots.size() - 1)) {
        const auto& [key, first, count] = slots[at];
        for (uint32_t i = 0; key == version && i < count; i++) {
          if (!visit(first + i)) return;
        }
      }
    }

   private:
    const VersionRows& rows_;
    const std::shared_lock<std::shared_mutex> lock_;
  };

  uint64_t bytes() const;

 private:
  /// Successive rows of a version, which may have several spans. A free slot has no rows.
  struct Span {
    VersionKey key;
    uint32_t first;
    uint32_t count;
  };

  size_t startOf(const VersionKey& key) const { return key.first & (slots_.size() - 1); }
  size_t insert(const Span& span);
  void grow();

  mutable std::shared_mutex mutex_;
  /// A hash table with linear probing. The number of slots is a power of two.
  std::vector<Span> slots_;
  size_t spans_ = 0;
  /// The slot that was filled last.
  size_t last_ = 0;
};

}  // namespace tessera
