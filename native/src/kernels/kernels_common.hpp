// Kernels that are written once, with vector extensions, and compiled for each instruction set. Everything is
// static, because files that are compiled with different flags must not share functions.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/kernels.hpp"

namespace tessera {

typedef float Floats __attribute__((vector_size(32)));
typedef double Doubles __attribute__((vector_size(64)));

static inline void loadWidened(const float* from, Doubles& wide) {
  Floats narrow;
  __builtin_memcpy(&narrow, from, sizeof narrow);
  wide = __builtin_convertvector(narrow, Doubles);
}

static double dotCommon(const float* a, const float* b, size_t length) {
  Doubles even = {0}, odd = {0}, x, y;
  for (size_t i = 0; i < length; i += 16) {
    loadWidened(a + i, x);
    loadWidened(b + i, y);
    even += x * y;
    loadWidened(a + i + 8, x);
    loadWidened(b + i + 8, y);
    odd += x * y;
  }
  const Doubles both = even + odd;
  return ((both[0] + both[1]) + (both[2] + both[3])) + ((both[4] + both[5]) + (both[6] + both[7]));
}

/// One pass of the transform over elements that are `half` apart, for `half` >= 8.
static inline void butterflies(float* values, size_t length, size_t half) {
  for (size_t block = 0; block < length; block += 2 * half) {
    for (size_t i = block; i < block + half; i += 8) {
      Floats low, high;
      __builtin_memcpy(&low, values + i, sizeof low);
      __builtin_memcpy(&high, values + i + half, sizeof high);
      const Floats sum = low + high, difference = low - high;
      __builtin_memcpy(values + i, &sum, sizeof sum);
      __builtin_memcpy(values + i + half, &difference, sizeof difference);
    }
  }
}

static void hadamardCommon(float* values, size_t length) {
  // The first three passes stay within eight neighbours: swap them and flip half of the signs.
  typedef int32_t Lanes __attribute__((vector_size(32)));
  const Floats sign1 = {1, -1, 1, -1, 1, -1, 1, -1};
  const Floats sign2 = {1, 1, -1, -1, 1, 1, -1, -1};
  const Floats sign4 = {1, 1, 1, 1, -1, -1, -1, -1};
  for (size_t i = 0; i < length; i += 8) {
    Floats v;
    __builtin_memcpy(&v, values + i, sizeof v);
#if defined(__clang__)
    v = __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6) + v * sign1;
    v = __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5) + v * sign2;
    v = __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3) + v * sign4;
#else
    v = __builtin_shuffle(v, Lanes{1, 0, 3, 2, 5, 4, 7, 6}) + v * sign1;
    v = __builtin_shuffle(v, Lanes{2, 3, 0, 1, 6, 7, 4, 5}) + v * sign2;
    v = __builtin_shuffle(v, Lanes{4, 5, 6, 7, 0, 1, 2, 3}) + v * sign4;
#endif
    __builtin_memcpy(values + i, &v, sizeof v);
  }
  for (size_t half = 8; half < length; half *= 2) butterflies(values, length, half);
}

static int32_t roundToBytesCommon(const float* values, size_t length, float inverseStep, float min, float max,
                                  int8_t* out) {
  typedef int32_t Lanes __attribute__((vector_size(32)));
  typedef int8_t Bytes __attribute__((vector_size(8)));
  Lanes sums = {0};
  for (size_t i = 0; i < length; i += 8) {
    Floats scaled;
    __builtin_memcpy(&scaled, values + i, sizeof scaled);
    scaled *= inverseStep;
    const Floats floored = scaled > min ? scaled : Floats{} + min;
    const Floats bounded = floored < max ? floored : Floats{} + max;
    // Truncation rounds towards zero; on the shifted, positive value it rounds down.
    const Lanes whole = __builtin_convertvector(bounded + 128.5f, Lanes) - 128;
    const Bytes bytes = __builtin_convertvector(whole, Bytes);
    __builtin_memcpy(out + i, &bytes, sizeof bytes);
    sums += whole;
  }
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

static inline uint64_t wordAt(const uint8_t* bytes, size_t word) {
  uint64_t value;
  __builtin_memcpy(&value, bytes + word * 8, 8);
  return value;
}

/// Bits of a level.
inline constexpr size_t LEVEL_PLANES = 3;

/// The planes of a code, the lowest first.
struct LevelPlanes {
  LevelPlanes(Code3Bit code, size_t length)
      : plane{code.rest + length / 8, code.rest, code.signs} {}
  const uint8_t* plane[LEVEL_PLANES];
};

/// Spreads eight bits over the lowest bits of eight bytes.
static inline uint64_t spreadBits(uint8_t bits) {
  const uint64_t own = bits * 0x0101010101010101ull & 0x8040201008040201ull;
  return (own + 0x7f7f7f7f7f7f7f7full) >> 7 & 0x0101010101010101ull;
}

[[maybe_unused]] static int32_t dot3BitCommon(Code3Bit code, const int8_t* query, size_t length) {
  const LevelPlanes planes(code, length);
  int32_t sum = 0;
  for (size_t byte = 0; byte < length / 8; byte++) {
    uint64_t eight = 0;
    for (size_t plane = 0; plane < LEVEL_PLANES; plane++) {
      eight |= spreadBits(planes.plane[plane][byte]) << plane;
    }
    uint8_t levels[8];
    __builtin_memcpy(levels, &eight, sizeof levels);
    for (size_t i = 0; i < 8; i++) sum += levels[i] * query[byte * 8 + i];
  }
  return sum;
}

[[maybe_unused]] static int32_t dotLevelsCommon(Code3Bit a, Code3Bit b, size_t length) {
  const LevelPlanes x(a, length), y(b, length);
  int32_t sum = 0;
  for (size_t word = 0; word < length / 64; word++) {
    for (size_t i = 0; i < LEVEL_PLANES; i++) {
      for (size_t j = 0; j < LEVEL_PLANES; j++) {
        sum += __builtin_popcountll(wordAt(x.plane[i], word) & wordAt(y.plane[j], word)) << (i + j);
      }
    }
  }
  return sum;
}

/// Leaves every element to the caller.
[[maybe_unused]] static size_t parseNoFractions(const char*&, const char*, float*, size_t) {
  return 0;
}

[[maybe_unused]] static void dot1BitCommon(const uint8_t* const* codes, size_t count,
                                           const uint64_t* planes, size_t words, int32_t* sums) {
  for (size_t i = 0; i < count; i++) {
    int32_t ones[QUERY_PLANES] = {0};
    for (size_t word = 0; word < words; word++) {
      const uint64_t bits = wordAt(codes[i], word);
      for (size_t plane = 0; plane < QUERY_PLANES; plane++) {
        ones[plane] += __builtin_popcountll(bits & planes[plane * words + word]);
      }
    }
    sums[i] = ones[0] + 2 * ones[1] + 4 * ones[2] - 8 * ones[3];
  }
}

}  // namespace tessera
