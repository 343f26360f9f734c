// Base64: decoded bytes encode to the same text but for its padding, and every encoded text can be decoded.
#include "json/base64.hpp"

#include <string>
#include <vector>

#include "check.hpp"

static constexpr char ALPHABET[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static std::string encode(const std::vector<uint8_t>& bytes) {
  std::string text;
  for (size_t at = 0; at < bytes.size(); at += 3) {
    const size_t left = bytes.size() - at;
    const uint32_t second = left > 1 ? bytes[at + 1] : 0;
    const uint32_t third = left > 2 ? bytes[at + 2] : 0;
    const uint32_t bits = static_cast<uint32_t>(bytes[at]) << 16 | second << 8 | third;
    text += ALPHABET[bits >> 18];
    text += ALPHABET[bits >> 12 & 63];
    text += left > 1 ? ALPHABET[bits >> 6 & 63] : '=';
    text += left > 2 ? ALPHABET[bits & 63] : '=';
  }
  return text;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::vector<uint8_t> bytes(data + 1, data + size);
  const std::string text(bytes.begin(), bytes.end());
  // The capacity is often slightly too small.
  const size_t capacity = text.size() - text.size() / 4 - (text.size() >= 4 ? data[0] % 4 : 0);
  std::vector<uint8_t> out(capacity);
  size_t length = 0;
  if (tessera::decodeBase64(text, out.data(), capacity, length)) {
    CHECK(length <= capacity);
    out.resize(length);
    const std::string again = encode(out);
    CHECK(again.size() >= text.size());
    // The last character may have unused bits, which are dropped.
    const size_t certain = length * 8 / 6;
    CHECK(again.compare(0, certain, text, 0, certain) == 0);
  }
  if (bytes.empty()) return 0;
  std::vector<uint8_t> back(bytes.size());
  const std::string padded = encode(bytes);
  for (const std::string& each : {padded, padded.substr(0, padded.find('='))}) {
    CHECK(tessera::decodeBase64(each, back.data(), back.size(), length));
    CHECK(length == bytes.size() && back == bytes);
  }
  return 0;
}
