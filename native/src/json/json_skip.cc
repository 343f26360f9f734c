#include "json/json_skip.hpp"

#include <cstdint>
#include <cstring>
#include <string_view>

#include "common/limits.hpp"
#include "json/number.hpp"

namespace tessera {

static bool isHex(char c) {
  return isDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/// The length of the multi-byte UTF-8 sequence at `at`, or 0 when it is invalid.
static int utf8Length(const char* at, const char* end) {
  const auto byte = [&](int i) { return static_cast<uint8_t>(at[i]); };
  const auto follows = [&](int i) { return (byte(i) & 0xc0) == 0x80; };
  const long left = end - at;
  const uint8_t lead = byte(0);
  if (lead >= 0xc2 && lead <= 0xdf) return left >= 2 && follows(1) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef) {
    if (left < 3 || !follows(1) || !follows(2)) return 0;
    if (lead == 0xe0 && byte(1) < 0xa0) return 0;
    if (lead == 0xed && byte(1) > 0x9f) return 0;
    return 3;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    if (left < 4 || !follows(1) || !follows(2) || !follows(3)) return 0;
    if (lead == 0xf0 && byte(1) < 0x90) return 0;
    if (lead == 0xf4 && byte(1) > 0x8f) return 0;
    return 4;
  }
  return 0;
}

static const char* skipEscape(const char* at, const char* end) {
  if (at == end) return nullptr;
  if (*at == 'u') {
    if (end - at < 5) return nullptr;
    for (int i = 1; i <= 4; i++) {
      if (!isHex(at[i])) return nullptr;
    }
    return at + 5;
  }
  return std::string_view("\"\\/bfnrt").find(*at) == std::string_view::npos ? nullptr : at + 1;
}

static const char* skipString(const char* at, const char* end) {
  at++;
  while (at < end) {
    const uint8_t byte = static_cast<uint8_t>(*at);
    if (byte == '"') return at + 1;
    if (byte < 0x20) return nullptr;
    if (byte == '\\') {
      at = skipEscape(at + 1, end);
      if (at == nullptr) return nullptr;
    } else if (byte < 0x80) {
      at++;
    } else {
      const int length = utf8Length(at, end);
      if (length == 0) return nullptr;
      at += length;
    }
  }
  return nullptr;
}

static const char* skipDigits(const char* at, const char* end) {
  const char* first = at;
  while (at < end && isDigit(*at)) at++;
  return at == first ? nullptr : at;
}

static const char* skipNumber(const char* at, const char* end) {
  if (*at == '-') at++;
  if (at == end) return nullptr;
  if (*at == '0') {
    at++;
  } else {
    at = skipDigits(at, end);
    if (at == nullptr) return nullptr;
  }
  if (at < end && *at == '.') {
    at = skipDigits(at + 1, end);
    if (at == nullptr) return nullptr;
  }
  if (at < end && (*at == 'e' || *at == 'E')) {
    at++;
    if (at < end && (*at == '+' || *at == '-')) at++;
    at = skipDigits(at, end);
  }
  return at;
}

static const char* skipWord(const char* at, const char* end, std::string_view word) {
  const bool same = static_cast<size_t>(end - at) >= word.size() &&
                    std::memcmp(at, word.data(), word.size()) == 0;
  return same ? at + word.size() : nullptr;
}

static const char* skipValue(const char* at, const char* end, int depth);

/// Skips the members of an object or an array, from after its opening bracket to after its closing
/// one.
static const char* skipMembers(const char* at, const char* end, char close, int depth) {
  at = skipJsonSpace(at, end);
  if (at < end && *at == close) return at + 1;
  while (true) {
    at = skipJsonSpace(at, end);
    if (close == '}') {
      if (at == end || *at != '"') return nullptr;
      at = skipString(at, end);
      if (at == nullptr) return nullptr;
      at = skipJsonSpace(at, end);
      if (at == end || *at++ != ':') return nullptr;
      at = skipJsonSpace(at, end);
    }
    at = skipValue(at, end, depth);
    if (at == nullptr) return nullptr;
    at = skipJsonSpace(at, end);
    if (at == end) return nullptr;
    if (*at == close) return at + 1;
    if (*at++ != ',') return nullptr;
  }
}

static const char* skipValue(const char* at, const char* end, int depth) {
  if (at == end || depth > MAX_JSON_DEPTH) return nullptr;
  switch (*at) {
    case '{':
      return skipMembers(at + 1, end, '}', depth + 1);
    case '[':
      return skipMembers(at + 1, end, ']', depth + 1);
    case '"':
      return skipString(at, end);
    case 't':
      return skipWord(at, end, "true");
    case 'f':
      return skipWord(at, end, "false");
    case 'n':
      return skipWord(at, end, "null");
    default:
      return *at == '-' || isDigit(*at) ? skipNumber(at, end) : nullptr;
  }
}

const char* skipJsonValue(const char* at, const char* end) { return skipValue(at, end, 0); }

}  // namespace tessera
