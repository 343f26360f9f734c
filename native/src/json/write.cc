#include "json/write.hpp"

#include <cstdint>

#include "common/utf8.hpp"

namespace tessera {

static void appendEscape(std::string& out, uint32_t unit) {
  static constexpr char HEX[] = "0123456789abcdef";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += HEX[unit >> shift & 15];
}

/// The letter of a control character that has a short escape, else 0.
static char shortEscape(uint32_t unit) {
  switch (unit) {
    case '\b':
      return 'b';
    case '\t':
      return 't';
    case '\n':
      return 'n';
    case '\f':
      return 'f';
    case '\r':
      return 'r';
    default:
      return 0;
  }
}

/// Appends an ASCII character.
static void appendAscii(std::string& out, uint32_t unit) {
  if (unit >= 0x20) {
    if (unit == '"' || unit == '\\') out += '\\';
    out += static_cast<char>(unit);
  } else if (const char letter = shortEscape(unit); letter != 0) {
    out += '\\';
    out += letter;
  } else {
    appendEscape(out, unit);
  }
}

void appendString(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      appendAscii(out, byte);
    } else {
      out += c;
    }
  }
  out += '"';
}

void appendString(std::string& out, std::u16string_view text) {
  out += '"';
  for (size_t i = 0; i < text.size(); i++) {
    const uint32_t unit = text[i];
    const uint32_t next = i + 1 < text.size() ? text[i + 1] : 0;
    if (unit < 0x80) {
      appendAscii(out, unit);
    } else if (unit < 0xd800 || unit > 0xdfff) {
      appendUtf8(out, unit);
    } else if (unit <= 0xdbff && next >= 0xdc00 && next <= 0xdfff) {
      appendUtf8(out, 0x10000 + ((unit & 0x3ff) << 10 | (next & 0x3ff)));
      i++;
    } else {
      appendEscape(out, unit);
    }
  }
  out += '"';
}

void appendPageInfo(std::string& out, std::string_view selfPath, const std::string* next) {
  out += R"("page_info":{"self":)";
  appendString(out, selfPath);
  out += R"(,"first":null,"next":)";
  appendOrNull(out, next, [](std::string& to, std::string_view cursor) {
    appendString(to, cursor);
  });
  out += R"(,"prev":null})";
}

}  // namespace tessera
