// Files without any text to cut into chunks, as a hit shows them.
#pragma once
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

namespace tessera {

/// What was read of versions that can never have chunks, so that later requests of all threads need not read
/// it again. A version does not change.
class KnownFiles {
 public:
  static KnownFiles& instance();

  /// @param file in JSON
  void add(std::string_view versionId, std::string_view file);
  /// The file in JSON; empty if it is not known.
  std::string find(std::string_view versionId);

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, std::string> files_;
};

}  // namespace tessera
