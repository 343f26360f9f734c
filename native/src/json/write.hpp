// Writing JSON.
#pragma once
#include <charconv>
#include <string>
#include <string_view>

namespace tessera {

/// Appends a number in its shortest form. It must be finite.
template <typename Number>
void appendNumber(std::string& out, Number value) {
  char digits[32];
  const auto result = std::to_chars(digits, digits + sizeof digits, value);
  out.append(digits, result.ptr);
}

/// Appends a string in UTF-8 with its quotes.
void appendString(std::string& out, std::string_view text);
/// The same for UTF-16. A surrogate without its other half is escaped.
void appendString(std::string& out, std::u16string_view text);

/// Appends the value of an optional or a pointer with `append(out, value)`, or null if it is empty.
template <typename Optional, typename Append>
void appendOrNull(std::string& out, const Optional& value, Append append) {
  if (value) {
    append(out, *value);
  } else {
    out += "null";
  }
}

/// Appends the member `page_info` of a page.
///
/// @param next the cursor of the next page; null without one
void appendPageInfo(std::string& out, std::string_view selfPath, const std::string* next);

}  // namespace tessera
