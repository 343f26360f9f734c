// The fields of the file versions of one project. Versions are numbered, and so are the chunks of all versions, in the
// same order.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/version_key.hpp"
#include "fields/field_columns.hpp"

namespace tessera {

/// Numbers of file versions or chunks: bit n & 31 of word n >> 5.
using NumberSet = std::span<const uint32_t>;

inline bool hasNumber(NumberSet set, uint32_t number) {
  return number >> 5 < set.size() && (set[number >> 5] >> (number & 31) & 1) != 0;
}

/// The kinds of fields, by the first name of a field in a filter.
enum class FieldRoot : uint8_t { path, frontmatter, metadata };

/// The values of a path and a frontmatter belong to versions, those of metadata to chunks. One thread writes, and reads
/// as it likes; others read while they keep it from writing.
class FieldStore {
 public:
  /// Keeps the writer from writing, after it if it waits: readers that follow each other would hold it off.
  std::shared_lock<std::shared_mutex> reading() const;
  uint32_t versions() const { return static_cast<uint32_t>(firstChunks_.size()) - 1; }
  uint32_t chunks() const { return firstChunks_.back(); }
  /// The first chunk of each version, and at the end that of the next version.
  std::span<const uint32_t> firstChunks() const { return firstChunks_; }

  /// The number that scopes have of a version.
  std::optional<uint32_t> numberOf(const VersionKey& version) const;

  /// Null for the root `path`.
  const FieldColumns* columns(FieldRoot root) const;
  /// The column of a field; null if no version has it. The root `path` is a field itself.
  const FieldColumn* find(FieldRoot root, std::u16string_view path) const;

  /// Gives versions that were added again their new numbers, which scopes have from now on.
  void move(std::span<const uint32_t> numbers);
  /// Adds a version without values. This number replaces any earlier one of the version.
  void append(const VersionKey& version, uint32_t chunks);
  /// Adds a version with a path, the JSON object of its frontmatter, and a JSON array with an object for each chunk.
  void add(const VersionKey& version, std::u16string_view path, std::u16string_view frontmatter,
           std::u16string_view metadata, uint32_t chunks);
  /// Adds the next values of a field, as a JSON array, and entries with their codes. The field is `rest` without a
  /// path. Throws std::invalid_argument for entries that cannot follow.
  void restore(FieldRoot root, const std::u16string* path, std::u16string_view values, std::span<const uint32_t> rows,
               std::span<const uint32_t> codes);

  /// The versions of a set only, under other numbers.
  std::shared_ptr<FieldStore> kept(NumberSet held) const;
  /// Memory, in bytes.
  size_t bytes() const;

 private:
  std::unique_lock<std::shared_mutex> writing();
  uint32_t appendLocked(const VersionKey& version, uint32_t chunks);
  FieldColumns& open(FieldRoot root) { return root == FieldRoot::metadata ? metadata_ : frontmatter_; }

  mutable std::shared_mutex mutex_;
  /// Held by the writer while it waits.
  mutable std::mutex gate_;
  std::vector<VersionKey> ids_;
  std::unordered_map<VersionKey, uint32_t, VersionKeyHash> numbers_;
  FieldColumn path_;
  FieldColumns frontmatter_;
  FieldColumns metadata_;
  std::vector<uint32_t> firstChunks_{0};
};

}  // namespace tessera
