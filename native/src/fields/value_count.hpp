// The number of files with each value of a field, counted in short steps by any thread. Entries are not counted, because
// arrays and chunks of one file may repeat a value.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fields/field_store.hpp"

namespace tessera {

/// The files to count, and the bounds of the list of values.
struct CountRequest {
  FieldRoot root = FieldRoot::path;
  /// The path into the object of the root; empty for `path`.
  std::u16string path;
  std::vector<uint32_t> versions;
  /// The chunks to count in metadata; null for all chunks of the versions.
  std::shared_ptr<const std::vector<uint32_t>> chunks;
  /// Values that are listed: those that the most files have.
  size_t valuesMax = 0;
  /// The length of a text up to which it is listed, in UTF-16 units.
  size_t charsMax = 0;
};

class ValueCount {
 public:
  ValueCount(std::shared_ptr<const FieldStore> store, CountRequest request);
  ValueCount(const ValueCount&) = delete;
  ValueCount& operator=(const ValueCount&) = delete;

  /// Does a short step. True if all is counted.
  bool step();

  /// Files that have a value of the field.
  uint32_t files() const { return files_; }
  /// Different values.
  uint32_t distinct() const { return distinct_; }
  /// Whether a version has values that are in no column, so that they are not counted.
  bool hasOthers() const { return hasOthers_; }
  bool hasType(std::string_view type) const;
  /// The listed values with the number of files, as JSON. The more frequent value is first; equally frequent ones are in
  /// order within their type.
  std::string json() const;

 private:
  struct Counted {
    uint32_t code;
    uint32_t files;
  };

  void countOther(uint32_t entry);
  void countEntry(uint32_t entry);
  void skip();
  void rank(uint32_t code);
  bool isBefore(const Counted& a, const Counted& b) const;
  void advanceTo(uint32_t row);
  template <typename Visit>
  bool each(uint32_t& at, uint32_t end, size_t& left, const Visit& visit);

  std::shared_ptr<const FieldStore> store_;
  CountRequest request_;
  /// Null if no version has the field, or if all values are in columns.
  const FieldColumn* column_ = nullptr;
  const FieldColumn* rest_ = nullptr;
  /// The position and the end of each part. The column may get further entries meanwhile.
  uint32_t other_ = 0;
  uint32_t others_ = 0;
  uint32_t entry_ = 0;
  uint32_t entries_ = 0;
  uint32_t code_ = 0;
  uint32_t codes_ = 0;
  /// The version of the row that was visited last.
  uint32_t version_ = 0;
  /// By code the files that have the value, and the last of them, from 1.
  std::vector<uint32_t> counts_;
  std::vector<uint32_t> lastWith_;
  uint32_t last_ = 0;
  uint32_t files_ = 0;
  uint32_t distinct_ = 0;
  bool hasOthers_ = false;
  std::vector<std::string_view> types_;
  std::vector<Counted> best_;
};

}  // namespace tessera
