// Narrowing a double that is known almost exactly.
#pragma once
#include <bit>
#include <cstdint>

namespace tessera {

/// Narrows a double that is known to within `slack` units in the last place. Returns false unless all doubles
/// within that distance round to the same float32. Narrowing drops 29 bits, and the rounding boundary is at half
/// their range. Static, because files that are compiled with different flags must not share functions.
static inline bool narrow(double near, int64_t slack, bool negative, float& value) {
  const auto dropped = static_cast<int64_t>(std::bit_cast<uint64_t>(near) & 0x1fffffff);
  const int64_t distance = dropped - 0x10000000;
  if (distance <= slack && distance >= -slack) return false;
  // The signs of a vector are random, so a branch would be mispredicted for every second element.
  const auto sign = static_cast<uint32_t>(negative) << 31;
  value = std::bit_cast<float>(std::bit_cast<uint32_t>(static_cast<float>(near)) | sign);
  return true;
}

/// `mantissa` has the first 16 digits of a fraction of `digits` digits. With at least twelve significant digits,
/// the relative error of the dropped digits is at most 2^-36, which is 2^16 units in the last place.
static inline bool narrowFraction(uint64_t mantissa, int64_t digits, bool negative, float& value) {
  constexpr uint64_t TWELVE_DIGITS = 100000000000;
  constexpr int64_t SLACK = 1 << 17;
  if (digits > 16 && mantissa < TWELVE_DIGITS) return false;
  return narrow(static_cast<double>(mantissa) / 1e16, SLACK, negative, value);
}

}  // namespace tessera
