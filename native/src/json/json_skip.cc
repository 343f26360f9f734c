#include "json/json_skip.hpp"

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "json/number.hpp"

namespace tessera {

static bool isHex(char c) {
  return isDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
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
    } else {
      at++;
    }
  }
  return nullptr;
}

static const char* skipWord(const char* at, const char* end, std::string_view word) {
  const bool same = static_cast<size_t>(end - at) >= word.size() &&
                    std::memcmp(at, word.data(), word.size()) == 0;
  return same ? at + word.size() : nullptr;
}

/// Skips a value without members.
static const char* skipScalar(const char* at, const char* end) {
  switch (*at) {
    case '"':
      return skipString(at, end);
    case 't':
      return skipWord(at, end, "true");
    case 'f':
      return skipWord(at, end, "false");
    case 'n':
      return skipWord(at, end, "null");
    default:
      return skipNumber(at, end);
  }
}

/// Skips to the value of the next member: over its name in an object, which ends with `close`, and over space.
static const char* skipToValue(const char* at, const char* end, char close) {
  at = skipJsonSpace(at, end);
  if (close == ']') return at;
  if (at == end || *at != '"') return nullptr;
  at = skipString(at, end);
  if (at == nullptr) return nullptr;
  at = skipJsonSpace(at, end);
  return at < end && *at == ':' ? skipJsonSpace(at + 1, end) : nullptr;
}

const char* skipJsonValue(const char* at, const char* end) {
  // The brackets that close the open objects and arrays. The call stack would bound their depth.
  std::string open;
  while (true) {
    if (at == end) return nullptr;
    if (*at == '{' || *at == '[') {
      const char close = *at == '{' ? '}' : ']';
      const char* const first = skipJsonSpace(at + 1, end);
      if (first == end || *first != close) {
        open += close;
        at = skipToValue(first, end, close);
        if (at == nullptr) return nullptr;
        continue;
      }
      at = first + 1;
    } else {
      at = skipScalar(at, end);
      if (at == nullptr) return nullptr;
    }
    while (true) {
      if (open.empty()) return at;
      at = skipJsonSpace(at, end);
      if (at == end) return nullptr;
      const char mark = *at++;
      if (mark == ',') break;
      if (mark != open.back()) return nullptr;
      open.pop_back();
    }
    at = skipToValue(at, end, open.back());
    if (at == nullptr) return nullptr;
  }
}

}  // namespace tessera
