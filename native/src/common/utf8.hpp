// Conversion between UTF-8 and UTF-16.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tessera {

/// Replaces `out` with the text. Bytes that are not UTF-8 become U+FFFD.
void decodeUtf8(std::span<const uint8_t> bytes, std::u16string& out);

/// Appends a code point that is not a surrogate.
void appendUtf8(std::string& out, uint32_t codePoint);
/// Appends a text. A surrogate without its other half becomes U+FFFD.
void appendUtf8(std::string& out, std::u16string_view text);

}  // namespace tessera
