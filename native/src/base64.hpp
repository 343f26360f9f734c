// Strict base64: canonical, padded, standard alphabet.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tessera {

/// Decodes at most `capacity` bytes; false on anything that is not canonical base64 or too long.
bool decodeBase64(std::string_view text, uint8_t* out, size_t capacity, size_t& length);

}  // namespace tessera
