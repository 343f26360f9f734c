#include "number.hpp"

#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>

namespace tessera {

static constexpr double POWERS_OF_TEN[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                           1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                           1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
static constexpr int MAX_EXACT_POWER = 22;
static constexpr int MAX_DIGITS = 19;

/// True when the eight characters are all digits.
static inline bool eightDigits(uint64_t chars) {
  return (((chars & 0xf0f0f0f0f0f0f0f0ull) |
           (((chars + 0x0606060606060606ull) & 0xf0f0f0f0f0f0f0f0ull) >> 4)) ==
          0x3333333333333333ull);
}

static inline uint64_t eightDigitValue(uint64_t chars) {
  chars -= 0x3030303030303030ull;
  chars = chars * 10 + (chars >> 8);
  return (((chars & 0x000000ff000000ffull) * 0x000f424000000064ull) +
          (((chars >> 16) & 0x000000ff000000ffull) * 0x0000271000000001ull)) >>
         32;
}

/// Reads digits into `mantissa` (which may wrap; the caller checks how many there were).
static inline const char* readDigits(const char* at, const char* end, uint64_t& mantissa) {
  if constexpr (std::endian::native == std::endian::little) {
    while (end - at >= 8) {
      uint64_t chars;
      std::memcpy(&chars, at, 8);
      if (!eightDigits(chars)) break;
      mantissa = mantissa * 100000000 + eightDigitValue(chars);
      at += 8;
    }
  }
  for (; at < end && isDigit(*at); at++) {
    mantissa = mantissa * 10 + static_cast<uint64_t>(*at - '0');
  }
  return at;
}

/// A number cut into its parts; value = mantissa * 10^exponent while `digits` <= MAX_DIGITS.
struct Decimal {
  const char* end = nullptr;
  uint64_t mantissa = 0;
  int64_t digits = 0;
  int exponent = 0;
  bool negative = false;
};

static inline bool cut(const char* at, const char* end, Decimal& out) {
  if (at < end && *at == '-') {
    out.negative = true;
    at++;
  }
  if (at == end || !isDigit(*at)) return false;
  const char* first = at;
  if (*at == '0') {
    at++;
    if (at < end && isDigit(*at)) return false;
  } else {
    at = readDigits(at, end, out.mantissa);
    out.digits = at - first;
  }
  if (at < end && *at == '.') {
    at++;
    const char* fraction = at;
    if (out.mantissa == 0) {
      // Leading zeros are no digits of the mantissa.
      while (at < end && *at == '0') at++;
    }
    const char* significant = at;
    at = readDigits(at, end, out.mantissa);
    if (at == fraction) return false;
    out.digits += at - significant;
    if (at - fraction > 100000) return false;
    out.exponent = -static_cast<int>(at - fraction);
  }
  if (at < end && (*at == 'e' || *at == 'E')) {
    at++;
    bool negative = false;
    if (at < end && (*at == '+' || *at == '-')) negative = *at++ == '-';
    const char* firstDigit = at;
    int exponent = 0;
    for (; at < end && isDigit(*at); at++) {
      if (exponent < 100000) exponent = exponent * 10 + (*at - '0');
    }
    if (at == firstDigit) return false;
    out.exponent += negative ? -exponent : exponent;
  }
  out.end = at;
  return true;
}

/// The correctly rounded value of a number that was cut already.
static bool exactDouble(const char* at, const Decimal& decimal, double& value) {
  const auto result = std::from_chars(at, decimal.end, value);
  return result.ec == std::errc() && result.ptr == decimal.end;
}

const char* parseDouble(const char* at, const char* end, double& value) {
  Decimal decimal;
  if (!cut(at, end, decimal) || !exactDouble(at, decimal, value)) return nullptr;
  return decimal.end;
}

/// Narrows a double that is known to within `slack` units of its last place, if all doubles that near
/// narrow to the same float32: a rounding boundary of float32 has the 29 bits that narrowing drops at
/// exactly half of their range.
static inline bool narrow(double near, int64_t slack, bool negative, float& value) {
  const auto dropped = static_cast<int64_t>(std::bit_cast<uint64_t>(near) & 0x1fffffff);
  const int64_t distance = dropped - 0x10000000;
  if (distance <= slack && distance >= -slack) return false;
  value = static_cast<float>(negative ? -near : near);
  return true;
}

/// Characters before the first one of the eight that is not a digit.
static inline int leadingDigits(uint64_t chars) {
  const uint64_t wrong = (chars ^ 0x3030303030303030ull) |
                         (((chars ^ 0x3030303030303030ull) + 0x0606060606060606ull) & 0xf0f0f0f0f0f0f0f0ull);
  const uint64_t high = wrong & 0xf0f0f0f0f0f0f0f0ull;
  return high == 0 ? 8 : std::countr_zero(high) / 8;
}

/// The form that nearly all elements of a vector have: a zero, a point, and up to 23 digits. Only the
/// first 16 of them are converted; the rest changes the value by less than the slack.
static inline const char* parseFraction(const char* at, const char* end, float& value) {
  if constexpr (std::endian::native != std::endian::little) return nullptr;
  // Sign, zero, point, 24 characters.
  if (end - at < 27) return nullptr;
  const bool negative = *at == '-';
  at += negative;
  if (at[0] != '0' || at[1] != '.') return nullptr;
  at += 2;
  uint64_t first, second, third;
  std::memcpy(&first, at, 8);
  std::memcpy(&second, at + 8, 8);
  std::memcpy(&third, at + 16, 8);
  uint64_t mantissa;
  int length;
  if (eightDigits(first) && eightDigits(second)) {
    const int more = leadingDigits(third);
    if (more == 8) return nullptr;
    length = 16 + more;
    mantissa = eightDigitValue(first) * 100000000 + eightDigitValue(second);
    // At least twelve digits count, so the slack covers what is cut off.
    if (mantissa < 100000000000ull) return nullptr;
  } else {
    const int head = leadingDigits(first);
    const int tail = head == 8 ? leadingDigits(second) : 0;
    length = head + tail;
    if (length == 0) return nullptr;
    // Whatever is behind the digits becomes zeros.
    constexpr uint64_t ZEROS = 0x3030303030303030ull;
    const auto keep = [](uint64_t chars, int digits) {
      if (digits == 8) return chars;
      const uint64_t mask = (uint64_t{1} << (8 * digits)) - 1;
      return (chars & mask) | (ZEROS & ~mask);
    };
    mantissa = eightDigitValue(keep(first, head)) * 100000000 +
               eightDigitValue(keep(second, tail));
  }
  at += length;
  if (*at == 'e' || *at == 'E') return nullptr;
  // 2^-36 of relative error at twelve digits is 2^16 units of the last place.
  constexpr int64_t SLACK = 1 << 17;
  const double near = static_cast<double>(mantissa) / 1e16;
  return narrow(near, SLACK, negative, value) ? at : nullptr;
}

const char* parseFloat(const char* at, const char* end, float& value) {
  if (const char* behind = parseFraction(at, end, value)) return behind;
  Decimal decimal;
  if (!cut(at, end, decimal)) return nullptr;
  const int power = decimal.exponent < 0 ? -decimal.exponent : decimal.exponent;
  if (decimal.digits <= MAX_DIGITS && power <= MAX_EXACT_POWER) {
    // Two roundings at most, so `near` is within two units of the last place of the exact double.
    const double scale = POWERS_OF_TEN[power];
    const double whole = static_cast<double>(decimal.mantissa);
    const double near = decimal.exponent < 0 ? whole / scale : whole * scale;
    constexpr int64_t SLACK = 4;
    // Below the normal range of float32 narrowing drops more bits.
    const bool normal = near == 0 || near > 1.2e-38;
    if (normal && narrow(near, SLACK, decimal.negative, value)) return decimal.end;
  }
  double exact;
  if (!exactDouble(at, decimal, exact)) return nullptr;
  value = static_cast<float>(exact);
  return decimal.end;
}

}  // namespace tessera
