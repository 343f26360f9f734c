// The values of one field. Each distinct value has a code; an entry says that a row has the value of a code. Entries
// are in the order of their rows. A row whose field is an array has an entry for each element.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fields/field_value.hpp"

namespace tessera {

class FieldColumn {
 public:
  /// The code of a field that exists without a value to compare. No value has it.
  static constexpr uint32_t EXISTS = 0;

  /// The row and the code of each entry.
  std::span<const uint32_t> rows() const { return rows_; }
  std::span<const uint32_t> codes() const { return codes_; }
  /// The number of codes, with EXISTS.
  uint32_t codeCount() const { return static_cast<uint32_t>(starts_.size()); }
  /// The value of a code, until values are added.
  ValueView value(uint32_t code) const;
  /// The code of a value; EXISTS if no entry has the value.
  uint32_t find(ValueView value) const;

  /// Adds an entry. No row may be below that of the last entry.
  void add(uint32_t row, ValueView value);
  /// Gives the next code to a new value.
  uint32_t addValue(ValueView value);
  /// Adds an entry with a code that has a value. Throws std::invalid_argument for a code or a row that cannot follow.
  void addEntry(uint32_t row, uint32_t code, uint32_t rowEnd);

  /// The entries of the rows that have a new number other than NONE, under those numbers.
  FieldColumn renumbered(std::span<const uint32_t> numbers) const;
  /// Memory, in bytes.
  size_t bytes() const;

 private:
  void insert(uint32_t code);
  void grow();
  uint64_t hashOf(ValueView value) const;

  std::vector<uint32_t> rows_;
  std::vector<uint32_t> codes_;
  /// The kind of each value, followed by its bytes.
  std::string values_;
  /// Where the value of each code starts.
  std::vector<uint64_t> starts_{0};
  /// A hash table of codes, with linear probing. 0 is an empty slot; at most half of them are used.
  std::vector<uint32_t> slots_;
};

}  // namespace tessera
