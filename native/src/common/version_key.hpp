// The ids of file versions as keys of tables.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tessera {

/// The id of a file version: two hashes, because a single hash would collide among billions of versions.
struct VersionKey {
  uint64_t first;
  uint64_t second;

  static VersionKey of(std::string_view versionId);
  bool operator==(const VersionKey&) const = default;
};

/// For hash tables of the standard library.
struct VersionKeyHash {
  size_t operator()(const VersionKey& key) const { return key.first; }
};

}  // namespace tessera
