// JSON numbers as double and float32, exactly as JSON.parse and Math.fround give them.
#pragma once

namespace tessera {

inline bool isDigit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

/// Parses a JSON number at `at` and returns the position after it, or null when the text is not a JSON number. Numbers
/// out of range become infinities and zeros.
const char* parseDouble(const char* at, const char* end, double& value);
const char* parseFloat(const char* at, const char* end, float& value);
/// The position after a JSON number; null when the text is not one.
const char* skipNumber(const char* at, const char* end);

}  // namespace tessera
