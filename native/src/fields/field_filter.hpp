// A filter as a tree: all or any of its parts, the negation of one, or a condition on a field.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "common/keyed_hash.hpp"
#include "fields/field_store.hpp"
#include "fields/glob.hpp"

namespace tessera {

/// A field as filters name it: its root, and the path into the object of the root, which is empty for `path`.
struct FieldName {
  FieldRoot root = FieldRoot::path;
  std::u16string path;
};

/// Throws std::invalid_argument for a name that has no root.
FieldName fieldNamed(std::u16string_view name);

/// The comparison of one value. The operators of order compare values of one type only.
enum class Operator : uint8_t { exists, equals, above, notBelow, below, notAbove, prefix, glob };

/// The condition on a field: it has a value, or an element of its array, that passes.
struct Comparison {
  FieldRoot root = FieldRoot::path;
  /// The path into the object of the root; empty for `path`.
  std::u16string path;
  Operator test = Operator::exists;
  /// The values that pass an `equals`, or the one of an operator of order.
  std::vector<FieldValue> operands;
  /// The same as keys of `identityOf`, which follow their kinds.
  std::unordered_set<std::string, KeyedHash, std::equal_to<>> keys;
  std::u16string prefix;
  std::shared_ptr<const Glob> glob;
};

/// The key of a value in Comparison::keys.
std::string keyOf(ValueView value);

struct Condition {
  enum class Kind : uint8_t { all, any, negation, comparison };

  Kind kind = Kind::all;
  std::vector<Condition> parts;
  Comparison comparison;

  /// True for the condition that every chunk meets, or that none meets: a filter may have any number of empty filters,
  /// which do not count as comparisons.
  bool isAlways() const { return kind == Kind::all && parts.empty(); }
  bool isNever() const { return kind == Kind::any && parts.empty(); }
  /// True if it names a field of metadata.
  bool usesMetadata() const;
};

/// Prepares a filter, a JSON text in which `checkFilter` has found no fault. Throws std::invalid_argument for others.
Condition compileFilter(std::u16string_view json);

}  // namespace tessera
