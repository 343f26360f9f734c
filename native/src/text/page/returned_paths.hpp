// Which documents earlier pages of a search returned. Ranks can change between pages, so every page leaves
// out what was returned before: no item is repeated, and none that still matches is skipped.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>

#include "common/keyed_hash.hpp"

namespace tessera {

/// Hashes of paths. As a text, each takes 11 characters.
class ReturnedPaths {
 public:
  /// Reads the text that `append` has written.
  explicit ReturnedPaths(std::string_view text);

  size_t size() const { return hashes_.size(); }
  bool has(std::string_view path) const;

  static void append(std::string& text, std::string_view path);

 private:
  std::unordered_set<uint64_t, KeyedHash> hashes_;
};

}  // namespace tessera
