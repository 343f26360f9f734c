// Base64 of the standard alphabet.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tessera {

/// Decodes at most `capacity` bytes. The padding may be absent, and unused bits are dropped. Returns false when the text is
/// not base64 or too long.
bool decodeBase64(std::string_view text, uint8_t* out, size_t capacity, size_t& length);

}  // namespace tessera
