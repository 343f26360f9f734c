// Skipping JSON values that are not needed, with full validation.
#pragma once

namespace tessera {

inline const char* skipJsonSpace(const char* at, const char* end) {
  while (at < end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t')) at++;
  return at;
}

/// Returns the position after the value at `at`, or null when it is not valid JSON. The bytes of its strings may be of
/// any encoding.
const char* skipJsonValue(const char* at, const char* end);

}  // namespace tessera
