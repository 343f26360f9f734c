// Visiting the members of JSON that is known to be valid.
#pragma once
#include <algorithm>
#include <string_view>

#include "json/json_skip.hpp"

namespace tessera {

/// Calls `visit` with the key in its quotes, empty in an array, and the value of each member of valid JSON.
template <typename Visit>
void forEachMember(std::string_view json, Visit visit) {
  const char* at = json.data();
  const char* const end = at + json.size();
  if (at == end || (*at != '{' && *at != '[')) return;
  const bool isObject = *at++ == '{';
  while ((at = skipJsonSpace(at, end)) < end && *at != '}' && *at != ']') {
    std::string_view key;
    if (isObject) {
      const char* keyEnd = skipJsonValue(at, end);
      if (keyEnd == nullptr) return;
      key = {at, static_cast<size_t>(keyEnd - at)};
      at = skipJsonSpace(keyEnd, end) + 1;
      at = skipJsonSpace(std::min(at, end), end);
    }
    const char* valueEnd = skipJsonValue(at, end);
    if (valueEnd == nullptr) return;
    visit(key, std::string_view(at, static_cast<size_t>(valueEnd - at)));
    at = skipJsonSpace(valueEnd, end);
    if (at < end && *at == ',') at++;
  }
}

}  // namespace tessera
