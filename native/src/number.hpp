// JSON numbers to float32 and double, exactly as JSON.parse (and Math.fround) would give them.
#pragma once

namespace tessera {

inline bool isDigit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

/// Parses one JSON number at `at` and returns the position behind it, or null when the text is not
/// a JSON number, or is one that the caller had better leave to JSON.parse (out of range).
const char* parseDouble(const char* at, const char* end, double& value);
const char* parseFloat(const char* at, const char* end, float& value);

}  // namespace tessera
