#include "fields/field_value.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "json/write.hpp"

namespace tessera {

namespace {

/// Numbers with longer exponents are compared as text.
constexpr size_t EXPONENT_MAX_CHARS = 15;
/// Different decimal numbers of 15 digits have different doubles.
constexpr size_t EXACT_NUMBER_MAX_CHARS = 15;
/// Smaller ones have doubles with fewer digits.
constexpr double EXACT_NUMBER_MIN = 1e-300;

/// A number as decimal digits.
struct DecimalNumber {
  bool isNegative = false;
  /// Without zeros at the ends.
  std::string digits;
  /// The number is 0.DIGITS times ten to the power of this.
  double magnitude = 0;
  /// Appended to the digits, it makes the text that only equal numbers have.
  std::string exponent;
};

double toDouble(std::string_view exponent) {
  const bool isNegative = exponent.starts_with('-');
  if (exponent.starts_with('+') || isNegative) exponent.remove_prefix(1);
  double value = 0;
  const auto end = exponent.data() + exponent.size();
  if (std::from_chars(exponent.data(), end, value).ec == std::errc::result_out_of_range) {
    value = std::numeric_limits<double>::infinity();
  }
  return isNegative ? -value : value;
}

/// A number whose exponent exceeds EXPONENT_MAX_CHARS. Its digits stay as they are.
DecimalNumber asWritten(bool isNegative, std::string_view mantissa, std::string_view exponent, char letter) {
  DecimalNumber number{isNegative, std::string(mantissa), 0, std::string(1, letter)};
  number.exponent += exponent;
  number.magnitude = mantissa == "0" ? -std::numeric_limits<double>::infinity()
                                     : static_cast<double>(mantissa.size()) + toDouble(exponent);
  return number;
}

/// The same number for 12.50e1, 125 and 1.25E2.
DecimalNumber decimalOf(std::string_view source) {
  const bool isNegative = source.starts_with('-');
  if (isNegative) source.remove_prefix(1);
  const size_t letter = source.find_first_of("eE");
  const std::string_view mantissa = source.substr(0, letter);
  const std::string_view exponent = letter == std::string_view::npos ? "" : source.substr(letter + 1);
  if (exponent.size() > EXPONENT_MAX_CHARS) return asWritten(isNegative, mantissa, exponent, source[letter]);
  const size_t point = std::min(mantissa.find('.'), mantissa.size());
  std::string digits(mantissa.substr(0, point));
  if (point < mantissa.size()) digits += mantissa.substr(point + 1);
  const size_t end = digits.find_last_not_of('0') + 1;
  if (end == 0) return {false, "0", -std::numeric_limits<double>::infinity(), ""};
  // Exponents of up to EXPONENT_MAX_CHARS digits are exact in a double.
  const auto scale = static_cast<int64_t>(toDouble(exponent)) + static_cast<int64_t>(point) - static_cast<int64_t>(end);
  digits.resize(end);
  digits.erase(0, digits.find_first_not_of('0'));
  DecimalNumber number{isNegative, std::move(digits), 0, "e"};
  appendNumber(number.exponent, scale);
  number.magnitude = static_cast<double>(static_cast<int64_t>(number.digits.size()) + scale);
  return number;
}

int sizeOrder(const DecimalNumber& a, const DecimalNumber& b) {
  if (a.magnitude != b.magnitude) return a.magnitude < b.magnitude ? -1 : 1;
  return a.digits.compare(b.digits);
}

/// The double of a number with at most EXACT_NUMBER_MAX_CHARS characters, which no other such number has. Nothing for
/// longer numbers, and for numbers with an exponent.
std::optional<double> exactDouble(std::string_view source) {
  if (source.size() > EXACT_NUMBER_MAX_CHARS) return std::nullopt;
  double value = 0;
  if (std::from_chars(source.data(), source.data() + source.size(), value).ec != std::errc()) return std::nullopt;
  if (value != 0 && std::abs(value) < EXACT_NUMBER_MIN) return std::nullopt;
  return value;
}

int numberOrder(std::string_view a, std::string_view b) {
  const auto exactA = exactDouble(a);
  const auto exactB = exactA ? exactDouble(b) : std::nullopt;
  if (exactB) return *exactA < *exactB ? -1 : *exactA > *exactB ? 1 : 0;
  const DecimalNumber first = decimalOf(a);
  const DecimalNumber second = decimalOf(b);
  if (first.isNegative != second.isNegative) return first.isNegative ? -1 : 1;
  return first.isNegative ? sizeOrder(second, first) : sizeOrder(first, second);
}

int textOrder(ValueView a, ValueView b) {
  if (a.kind == ValueKind::narrowText && b.kind == ValueKind::narrowText) return a.bytes.compare(b.bytes);
  const size_t shorter = std::min(a.length(), b.length());
  for (size_t i = 0; i < shorter; i++) {
    if (a.unit(i) != b.unit(i)) return a.unit(i) < b.unit(i) ? -1 : 1;
  }
  return a.length() == b.length() ? 0 : a.length() < b.length() ? -1 : 1;
}

bool isBoolean(ValueView value) { return value.kind == ValueKind::no || value.kind == ValueKind::yes; }

}  // namespace

FieldValue textValue(std::u16string_view text) {
  const bool isNarrow = std::ranges::all_of(text, [](char16_t unit) { return unit < 0x100; });
  if (isNarrow) return {ValueKind::narrowText, std::string(text.begin(), text.end())};
  return {ValueKind::wideText, std::string(reinterpret_cast<const char*>(text.data()), 2 * text.size())};
}

std::optional<FieldValue> readValue(JsonReader& json) {
  const char16_t first = json.next();
  if (first == u'"') return textValue(json.string());
  if (json.nextIsNumber()) return FieldValue{ValueKind::number, json.number()};
  if (first == u't' || first == u'f') return FieldValue{json.literal() ? ValueKind::yes : ValueKind::no, ""};
  json.skip();
  return std::nullopt;
}

std::u16string unitsOf(ValueView text) {
  std::u16string units(text.length(), u'\0');
  for (size_t i = 0; i < units.size(); i++) units[i] = text.unit(i);
  return units;
}

void appendValue(std::string& out, ValueView value) {
  if (value.isText()) {
    appendString(out, unitsOf(value));
  } else if (value.kind == ValueKind::number) {
    out += value.bytes;
  } else {
    out += value.kind == ValueKind::yes ? "true" : value.kind == ValueKind::no ? "false" : "null";
  }
}

std::string_view typeOf(ValueView value) {
  if (value.isText()) return "string";
  return value.kind == ValueKind::number ? "number" : "boolean";
}

std::string_view identityOf(ValueView value, std::string& buffer) {
  if (value.kind != ValueKind::number) return value.bytes;
  const DecimalNumber number = decimalOf(value.bytes);
  buffer = number.isNegative ? "-" : "";
  buffer += number.digits;
  buffer += number.exponent;
  return buffer;
}

bool isSameValue(ValueView a, ValueView b) {
  if (a.kind != b.kind) return false;
  if (a.bytes == b.bytes) return true;
  if (a.kind != ValueKind::number) return false;
  std::string first;
  std::string second;
  return identityOf(a, first) == identityOf(b, second);
}

std::optional<int> compareValues(ValueView a, ValueView b) {
  if (a.isText() && b.isText()) return textOrder(a, b);
  if (a.kind == ValueKind::number && b.kind == ValueKind::number) return numberOrder(a.bytes, b.bytes);
  if (isBoolean(a) && isBoolean(b)) return static_cast<int>(a.kind) - static_cast<int>(b.kind);
  return std::nullopt;
}

bool startsWith(ValueView text, std::u16string_view prefix) {
  if (text.length() < prefix.size()) return false;
  for (size_t i = 0; i < prefix.size(); i++) {
    if (text.unit(i) != prefix[i]) return false;
  }
  return true;
}

}  // namespace tessera
