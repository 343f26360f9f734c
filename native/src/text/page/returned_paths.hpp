// The documents that earlier pages of a search returned. Ranks can change between pages, so every page
// omits these documents. Then no page repeats an item or skips one that still matches.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>

#include "common/keyed_hash.hpp"

namespace tessera {

/// Hashes of paths. Each takes 11 characters of the text.
class ReturnedPaths {
 public:
  /// Reads the text that `append` wrote.
  explicit ReturnedPaths(std::string_view text);

  size_t size() const { return hashes_.size(); }
  bool has(std::string_view path) const;

  static void append(std::string& text, std::string_view path);

 private:
  std::unordered_set<uint64_t, KeyedHash> hashes_;
};

}  // namespace tessera
