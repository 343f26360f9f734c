#include "common/utf8.hpp"

#include <cstddef>

namespace tessera {

namespace {

constexpr uint32_t REPLACEMENT = 0xfffd;

/// A code point and its length in bytes.
struct Decoded {
  uint32_t codePoint;
  size_t length;
};

constexpr Decoded MALFORMED{REPLACEMENT, 1};

/// Reads `length` bytes. `start` has the bits of the first one.
Decoded continued(std::span<const uint8_t> bytes, uint32_t start, size_t length, uint32_t least) {
  if (bytes.size() < length) return MALFORMED;
  uint32_t codePoint = start;
  for (size_t i = 1; i < length; i++) {
    if ((bytes[i] & 0xc0) != 0x80) return MALFORMED;
    codePoint = codePoint << 6 | (bytes[i] & 0x3fu);
  }
  const bool isSurrogate = codePoint >= 0xd800 && codePoint <= 0xdfff;
  if (codePoint < least || codePoint > 0x10ffff || isSurrogate) return MALFORMED;
  return {codePoint, length};
}

Decoded decodeOne(std::span<const uint8_t> bytes) {
  const uint32_t first = bytes[0];
  if (first < 0x80) return {first, 1};
  if (first >> 5 == 0x6) return continued(bytes, first & 0x1f, 2, 0x80);
  if (first >> 4 == 0xe) return continued(bytes, first & 0x0f, 3, 0x800);
  if (first >> 3 == 0x1e) return continued(bytes, first & 0x07, 4, 0x10000);
  return MALFORMED;
}

}  // namespace

void decodeUtf8(std::span<const uint8_t> bytes, std::u16string& out) {
  // A text has at most as many code units as bytes.
  out.resize(bytes.size());
  char16_t* at = out.data();
  for (size_t i = 0; i < bytes.size();) {
    const Decoded next = decodeOne(bytes.subspan(i));
    i += next.length;
    if (next.codePoint < 0x10000) {
      *at++ = static_cast<char16_t>(next.codePoint);
    } else {
      *at++ = static_cast<char16_t>(0xd7c0 + (next.codePoint >> 10));
      *at++ = static_cast<char16_t>(0xdc00 + (next.codePoint & 0x3ff));
    }
  }
  out.resize(static_cast<size_t>(at - out.data()));
}

void appendUtf8(std::string& out, uint32_t codePoint) {
  const auto push = [&](uint32_t byte) { out += static_cast<char>(byte); };
  if (codePoint < 0x80) return push(codePoint);
  if (codePoint < 0x800) {
    push(0xc0 | codePoint >> 6);
  } else {
    if (codePoint < 0x10000) {
      push(0xe0 | codePoint >> 12);
    } else {
      push(0xf0 | codePoint >> 18);
      push(0x80 | (codePoint >> 12 & 0x3f));
    }
    push(0x80 | (codePoint >> 6 & 0x3f));
  }
  push(0x80 | (codePoint & 0x3f));
}

void appendUtf8(std::string& out, std::u16string_view text) {
  for (size_t i = 0; i < text.size(); i++) {
    const uint32_t unit = text[i];
    const uint32_t next = i + 1 < text.size() ? text[i + 1] : 0;
    if (unit < 0xd800 || unit > 0xdfff) {
      appendUtf8(out, unit);
    } else if (unit <= 0xdbff && next >= 0xdc00 && next <= 0xdfff) {
      appendUtf8(out, 0x10000 + ((unit & 0x3ff) << 10 | (next & 0x3ff)));
      i++;
    } else {
      appendUtf8(out, REPLACEMENT);
    }
  }
}

}  // namespace tessera
