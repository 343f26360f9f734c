// Stepping over JSON that nobody needs, with all of its grammar checked.
#pragma once

namespace tessera {

inline const char* skipJsonSpace(const char* at, const char* end) {
  while (at < end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t')) at++;
  return at;
}

/// Returns the position behind the value at `at`, or null when it is invalid, nested too deeply, or
/// not valid UTF-8.
const char* skipJsonValue(const char* at, const char* end);

}  // namespace tessera
