// Parses several numbers in the text of a JSON array together. It finds the commas of a whole cache line first, so
// that parsing a number does not wait for the end of the number before. Needs AVX2. Everything is static, because
// files that are compiled with different flags must not share functions.
#pragma once
#include <immintrin.h>

#include <bit>
#include <cstddef>
#include <cstdint>

#include "common/narrow.hpp"

namespace tessera {

/// A bit for each character other than a digit.
static inline uint32_t nonDigitsIn(__m256i chars) {
  const __m256i values = _mm256_sub_epi8(chars, _mm256_set1_epi8('0'));
  const __m256i bounded = _mm256_min_epu8(values, _mm256_set1_epi8(9));
  return ~static_cast<uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(values, bounded)));
}

/// The value of the first 16 digits. Fewer digits are padded with zeros.
static inline uint64_t sixteenDigits(const char* digits, int count) {
  const __m128i places = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const __m128i chars = _mm_loadu_si128(reinterpret_cast<const __m128i*>(digits));
  const __m128i isDigit = _mm_cmpgt_epi8(_mm_set1_epi8(static_cast<char>(count)), places);
  const __m128i ones = _mm_and_si128(_mm_sub_epi8(chars, _mm_set1_epi8('0')), isDigit);
  const __m128i pairs = _mm_maddubs_epi16(ones, _mm_set1_epi16(10 | 1 << 8));
  const __m128i fours = _mm_madd_epi16(pairs, _mm_set1_epi32(100 | 1 << 16));
  const __m128i packed = _mm_packus_epi32(fours, fours);
  const __m128i eights = _mm_madd_epi16(packed, _mm_set1_epi32(10000 | 1 << 16));
  const auto both = static_cast<uint64_t>(_mm_cvtsi128_si64(eights));
  return (both & 0xffffffff) * 100000000 + (both >> 32);
}

/// Parses a fraction that ends before `comma`. Returns false for any other form, and if rounding needs more digits.
static inline bool parseFraction(const char* at, const char* comma, float& value) {
  at += *at == ' ';
  const bool negative = *at == '-';
  at += negative;
  const char* digits = at + 2;
  const auto count = static_cast<int>(comma - digits);
  if (count < 1 || count > 23 || at[0] != '0' || at[1] != '.') return false;
  const uint32_t others =
      nonDigitsIn(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(digits)));
  if (std::countr_zero(others) != count) return false;
  return narrowFraction(sixteenDigits(digits, count), count, negative, value);
}

static inline uint64_t commasIn(const char* block) {
  const __m256i comma = _mm256_set1_epi8(',');
  const auto half = [&](const char* at) {
    const __m256i chars = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
    return static_cast<uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(chars, comma)));
  };
  return half(block) | static_cast<uint64_t>(half(block + 32)) << 32;
}

static size_t parseFractionsX86(const char*& at, const char* end, float* out, size_t most) {
  static constexpr size_t BLOCK = 64;
  // Bytes after the comma of a number: sign, zero, point, and the bytes that are loaded with its digits.
  static constexpr size_t READ_AHEAD = 40;
  size_t count = 0;
  for (const char* block = at; static_cast<size_t>(end - block) >= BLOCK + READ_AHEAD; block += BLOCK) {
    for (uint64_t commas = commasIn(block); commas != 0; commas &= commas - 1) {
      const char* comma = block + std::countr_zero(commas);
      if (count == most || !parseFraction(at, comma, out[count])) return count;
      count++;
      at = comma + 1;
    }
  }
  return count;
}

}  // namespace tessera
