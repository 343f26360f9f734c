// Strict base64: canonical, padded, with the standard alphabet.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tessera {

/// Decodes at most `capacity` bytes. Returns false when the text is not canonical base64 or too
/// long.
bool decodeBase64(std::string_view text, uint8_t* out, size_t capacity, size_t& length);

}  // namespace tessera
