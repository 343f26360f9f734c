// The fields of rows, which have numbers: the frontmatter of file versions, or the metadata of chunks.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/keyed_hash.hpp"
#include "fields/field_column.hpp"

namespace tessera {

/// A column with the path into the object.
struct NamedColumn {
  std::u16string path;
  FieldColumn column;
};

class FieldColumns {
 public:
  /// The columns in the order of their first use. None moves.
  const std::vector<std::unique_ptr<NamedColumn>>& columns() const { return columns_; }
  /// Values beyond the bounds, as JSON texts of entries: many short values would need much memory otherwise.
  const FieldColumn& rest() const { return rest_; }
  FieldColumn& rest() { return rest_; }
  /// The column of a field; null if no row has it.
  const FieldColumn* find(std::u16string_view path) const;
  /// The column of a field, created on first use.
  FieldColumn& open(std::u16string_view path);

  /// Adds the members of a JSON object as a row, which must be above all others. `json` is left after the object.
  void add(uint32_t row, JsonReader& json);

  /// The rows that have a new number other than NONE, under those numbers.
  FieldColumns renumbered(std::span<const uint32_t> numbers) const;
  /// Memory, in bytes.
  size_t bytes() const;

 private:
  std::vector<std::unique_ptr<NamedColumn>> columns_;
  /// The keys belong to `columns_`.
  std::unordered_map<std::u16string_view, FieldColumn*, KeyedHash> byPath_;
  FieldColumn rest_;
};

/// Finds the values of a field in a text of FieldColumns::rest(). A value is `nothing` if the field exists without it.
std::vector<FieldValue> valuesInRest(ValueView text, std::u16string_view path);

}  // namespace tessera
