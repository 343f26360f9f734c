// The values of fields that filters compare: texts, numbers and booleans. Values of two types are never equal, and
// neither is below the other.
#pragma once
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "fields/json_reader.hpp"

namespace tessera {

enum class ValueKind : uint8_t {
  /// A field that exists without a value to compare: an object, or an empty array.
  nothing,
  /// A text whose UTF-16 units are all below 256, in one byte each.
  narrowText,
  /// Any other text, in two bytes per unit.
  wideText,
  /// A number, as it was written.
  number,
  /// A boolean.
  no,
  yes,
};

/// A value whose bytes belong to somebody else.
struct ValueView {
  ValueKind kind = ValueKind::nothing;
  std::string_view bytes;

  bool isText() const { return kind == ValueKind::narrowText || kind == ValueKind::wideText; }
  /// The length of a text, in UTF-16 units.
  size_t length() const { return kind == ValueKind::wideText ? bytes.size() / 2 : bytes.size(); }
  /// A unit of a text.
  char16_t unit(size_t at) const {
    if (kind == ValueKind::narrowText) return static_cast<unsigned char>(bytes[at]);
    char16_t unit;
    std::memcpy(&unit, bytes.data() + 2 * at, 2);
    return unit;
  }
};

struct FieldValue {
  ValueKind kind = ValueKind::nothing;
  std::string bytes;

  operator ValueView() const { return {kind, bytes}; }
};

FieldValue textValue(std::u16string_view text);
/// Reads a text, a number or a boolean. Skips any other value and returns nothing.
std::optional<FieldValue> readValue(JsonReader& json);
/// The text of a value, in UTF-16.
std::u16string unitsOf(ValueView text);
/// Appends a value as JSON, a number as it was written.
void appendValue(std::string& out, ValueView value);
/// The name of a type: "boolean", "number" or "string".
std::string_view typeOf(ValueView value);

/// The bytes that only equal values of a kind share: those of a text, or of a number in its canonical form.
///
/// @param buffer where they may be
std::string_view identityOf(ValueView value, std::string& buffer);
/// True for the same text, the same boolean, or equal numbers.
bool isSameValue(ValueView a, ValueView b);
/// Negative if the first value is smaller, 0 for equal ones; nothing for values of different types. Numbers are exact,
/// texts have the order of their UTF-16 units.
std::optional<int> compareValues(ValueView a, ValueView b);
bool startsWith(ValueView text, std::u16string_view prefix);

}  // namespace tessera
