#include "json/base64.hpp"

#include <array>

namespace tessera {

static constexpr uint8_t INVALID = 0xff;

static constexpr std::array<uint8_t, 256> VALUES = [] {
  std::array<uint8_t, 256> values{};
  for (uint8_t& value : values) value = INVALID;
  constexpr std::string_view alphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (uint8_t i = 0; i < 64; i++) values[static_cast<uint8_t>(alphabet[i])] = i;
  return values;
}();

bool decodeBase64(std::string_view text, uint8_t* out, size_t capacity, size_t& length) {
  if (text.size() % 4 == 0) {
    if (text.ends_with("==")) {
      text.remove_suffix(2);
    } else if (text.ends_with('=')) {
      text.remove_suffix(1);
    }
  }
  const size_t rest = text.size() % 4;
  if (rest == 1) return false;
  length = text.size() / 4 * 3 + rest * 3 / 4;
  if (length > capacity) return false;
  const auto value = [&](size_t i) { return VALUES[static_cast<uint8_t>(text[i])]; };
  const size_t whole = text.size() - rest;
  uint8_t seen = 0;
  for (size_t i = 0; i < whole; i += 4) {
    const uint8_t a = value(i), b = value(i + 1), c = value(i + 2), d = value(i + 3);
    seen |= a | b | c | d;
    *out++ = static_cast<uint8_t>(a << 2 | b >> 4);
    *out++ = static_cast<uint8_t>(b << 4 | c >> 2);
    *out++ = static_cast<uint8_t>(c << 6 | d);
  }
  if (rest > 0) {
    const uint8_t a = value(whole), b = value(whole + 1);
    const uint8_t c = rest == 3 ? value(whole + 2) : 0;
    seen |= a | b | c;
    *out++ = static_cast<uint8_t>(a << 2 | b >> 4);
    if (rest == 3) *out++ = static_cast<uint8_t>(b << 4 | c >> 2);
  }
  return (seen & 0xc0) == 0;
}

}  // namespace tessera
