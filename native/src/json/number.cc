#include "json/number.hpp"

#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <limits>

#include "common/narrow.hpp"

namespace tessera {

static constexpr double POWERS_OF_TEN[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                           1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                           1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
static constexpr int MAX_EXACT_POWER = 22;
static constexpr int MAX_DIGITS = 19;
/// Larger exponents are cut, which changes no number: no text has as many digits.
static constexpr int64_t MAX_EXPONENT = 1'000'000'000'000;

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

/// Appends digits to `mantissa`, which may wrap: the caller checks their number.
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

/// The parts of a number: value = mantissa * 10^exponent if `digits` <= MAX_DIGITS.
struct Decimal {
  const char* end = nullptr;
  uint64_t mantissa = 0;
  int64_t digits = 0;
  int64_t exponent = 0;
  bool negative = false;
};

/// Reads an exponent after its `e` and adds it to the number. Returns null when it has no digits.
static inline const char* readExponent(const char* at, const char* end, Decimal& out) {
  bool negative = false;
  if (at < end && (*at == '+' || *at == '-')) negative = *at++ == '-';
  const char* first = at;
  int64_t exponent = 0;
  for (; at < end && isDigit(*at); at++) {
    if (exponent < MAX_EXPONENT) exponent = exponent * 10 + (*at - '0');
  }
  if (at == first) return nullptr;
  out.exponent += negative ? -exponent : exponent;
  return at;
}

static inline bool splitDecimal(const char* at, const char* end, Decimal& out) {
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
    if (out.digits == 0) {
      // Leading zeros do not count as digits of the mantissa.
      while (at < end && *at == '0') at++;
    }
    const char* significant = at;
    at = readDigits(at, end, out.mantissa);
    if (at == fraction) return false;
    out.digits += at - significant;
    out.exponent = fraction - at;
  }
  if (at < end && (*at == 'e' || *at == 'E')) {
    at = readExponent(at + 1, end, out);
    if (at == nullptr) return false;
  }
  out.end = at;
  return true;
}

/// The correctly rounded value of a number that was split before: an infinity or a zero if it is out of range.
static double exactDouble(const char* at, const Decimal& decimal) {
  double value = 0;
  if (std::from_chars(at, decimal.end, value).ec == std::errc()) return value;
  const bool isLarge = decimal.digits + decimal.exponent > 0;
  value = isLarge ? std::numeric_limits<double>::infinity() : 0;
  return decimal.negative ? -value : value;
}

const char* skipNumber(const char* at, const char* end) {
  Decimal decimal;
  return splitDecimal(at, end, decimal) ? decimal.end : nullptr;
}

const char* parseDouble(const char* at, const char* end, double& value) {
  Decimal decimal;
  if (!splitDecimal(at, end, decimal)) return nullptr;
  value = exactDouble(at, decimal);
  return decimal.end;
}

/// The number of leading digits among eight characters.
static inline int leadingDigits(uint64_t chars) {
  const uint64_t values = chars ^ 0x3030303030303030ull;
  const uint64_t wrong = values | ((values + 0x0606060606060606ull) & 0xf0f0f0f0f0f0f0f0ull);
  const uint64_t high = wrong & 0xf0f0f0f0f0f0f0f0ull;
  return high == 0 ? 8 : std::countr_zero(high) / 8;
}

/// Parses the form of nearly all vector elements: a zero, a point, and up to 23 digits. It converts
/// only the first 16; the rest changes the value by less than the slack.
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
  } else {
    const int head = leadingDigits(first);
    const int tail = head == 8 ? leadingDigits(second) : 0;
    length = head + tail;
    if (length == 0) return nullptr;
    // Characters after the digits become zeros.
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
  return narrowFraction(mantissa, length, negative, value) ? at : nullptr;
}

const char* parseFloat(const char* at, const char* end, float& value) {
  if (const char* after = parseFraction(at, end, value)) return after;
  Decimal decimal;
  if (!splitDecimal(at, end, decimal)) return nullptr;
  const int64_t power = decimal.exponent < 0 ? -decimal.exponent : decimal.exponent;
  if (decimal.digits <= MAX_DIGITS && power <= MAX_EXACT_POWER) {
    // At most two roundings: `near` is within two units in the last place of the exact double.
    const double scale = POWERS_OF_TEN[power];
    const double whole = static_cast<double>(decimal.mantissa);
    const double near = decimal.exponent < 0 ? whole / scale : whole * scale;
    constexpr int64_t SLACK = 4;
    // Below the normal range of float32, narrowing drops more bits.
    const bool normal = near == 0 || near > 1.2e-38;
    if (normal && narrow(near, SLACK, decimal.negative, value)) return decimal.end;
  }
  value = static_cast<float>(exactDouble(at, decimal));
  return decimal.end;
}

}  // namespace tessera
