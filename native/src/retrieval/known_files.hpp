// Files without chunks, as a hit shows them.
#pragma once
#include <chrono>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "common/keyed_hash.hpp"

namespace tessera {

/// The cache of the files of versions without chunks, so that later requests of all threads need not read them again.
/// A version does not change, but its text may be cut into chunks later.
class KnownFiles {
 public:
  static KnownFiles& instance();

  /// @param file in JSON
  /// @param milliseconds validity of the entry; infinite for a version that can never have chunks
  void add(std::string_view versionId, std::string_view file, double milliseconds);
  /// The file in JSON; empty if it is not cached.
  std::string find(std::string_view versionId);

 private:
  using Clock = std::chrono::steady_clock;
  struct File {
    std::string json;
    Clock::time_point until;
  };

  std::mutex mutex_;
  std::unordered_map<std::string, File, KeyedHash, std::equal_to<>> files_;
};

}  // namespace tessera
