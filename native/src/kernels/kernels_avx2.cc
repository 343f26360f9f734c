// Kernels for x86-64 processors with AVX2.
#include <immintrin.h>

#include "kernels/fractions_x86.hpp"
#include "kernels/kernels_common.hpp"

namespace tessera {

/// The number of ones in each byte.
static inline __m256i onesInBytes(__m256i bits) {
  const __m256i table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2,
                                         1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
  const __m256i low = _mm256_set1_epi8(15);
  return _mm256_add_epi8(
      _mm256_shuffle_epi8(table, _mm256_and_si256(bits, low)),
      _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(bits, 4), low)));
}

static inline int32_t total(__m256i quads) {
  const __m128i halves =
      _mm_add_epi64(_mm256_castsi256_si128(quads), _mm256_extracti128_si256(quads, 1));
  return static_cast<int32_t>(_mm_cvtsi128_si64(halves) + _mm_extract_epi64(halves, 1));
}

static void dot1BitAvx2(const uint8_t* const* codes, size_t count, const uint64_t* planes,
                            size_t words, int32_t* sums) {
  const __m256i zero = _mm256_setzero_si256();
  for (size_t i = 0; i < count; i++) {
    // Counts in bytes cannot overflow: at most 16 steps add at most 8 each.
    __m256i ones[QUERY_PLANES] = {zero, zero, zero, zero};
    for (size_t word = 0; word < words; word += 4) {
      const __m256i bits =
          _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes[i] + word * 8));
      for (size_t plane = 0; plane < QUERY_PLANES; plane++) {
        const __m256i query =
            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(planes + plane * words + word));
        ones[plane] = _mm256_add_epi8(ones[plane], onesInBytes(_mm256_and_si256(bits, query)));
      }
    }
    const __m256i low = _mm256_add_epi64(_mm256_sad_epu8(ones[0], zero),
                                         _mm256_slli_epi64(_mm256_sad_epu8(ones[1], zero), 1));
    const __m256i high = _mm256_sub_epi64(_mm256_slli_epi64(_mm256_sad_epu8(ones[2], zero), 2),
                                          _mm256_slli_epi64(_mm256_sad_epu8(ones[3], zero), 3));
    sums[i] = total(_mm256_add_epi64(low, high));
  }
}

static inline int32_t totalOf32(__m256i lanes) {
  const __m128i halves =
      _mm_add_epi32(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256(lanes, 1));
  const __m128i pairs = _mm_add_epi32(halves, _mm_shuffle_epi32(halves, 0x4e));
  return _mm_cvtsi128_si32(_mm_add_epi32(pairs, _mm_shuffle_epi32(pairs, 0xb1)));
}

/// `value` in each byte whose bit among 32 is set.
static inline __m256i spreadBits(const uint8_t* bits, char value) {
  int32_t own;
  __builtin_memcpy(&own, bits, sizeof own);
  // The byte that has the bit of each element, and its place there.
  const __m256i byte = _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
  const __m256i bit = _mm256_set1_epi64x(static_cast<int64_t>(0x8040201008040201));
  const __m256i spread = _mm256_and_si256(_mm256_shuffle_epi8(_mm256_set1_epi32(own), byte), bit);
  return _mm256_and_si256(_mm256_cmpeq_epi8(spread, bit), _mm256_set1_epi8(value));
}

static int32_t dot3BitAvx2(Code3Bit code, const int8_t* query, size_t length) {
  const LevelPlanes planes(code, length);
  const __m256i one = _mm256_set1_epi16(1);
  __m256i sum = _mm256_setzero_si256();
  for (size_t byte = 0; byte < length / 8; byte += 4) {
    __m256i levels = spreadBits(planes.plane[0] + byte, 1);
    levels = _mm256_or_si256(levels, spreadBits(planes.plane[1] + byte, 2));
    levels = _mm256_or_si256(levels, spreadBits(planes.plane[2] + byte, 4));
    const __m256i* at = reinterpret_cast<const __m256i*>(query + byte * 8);
    // The sum of two products is at most 2 * 7 * 127 and does not saturate 16 bits.
    const __m256i products = _mm256_maddubs_epi16(levels, _mm256_loadu_si256(at));
    sum = _mm256_add_epi32(sum, _mm256_madd_epi16(products, one));
  }
  return totalOf32(sum);
}

static int32_t dotLevelsAvx2(Code3Bit a, Code3Bit b, size_t length) {
  const LevelPlanes planesA(a, length), planesB(b, length);
  const __m256i zero = _mm256_setzero_si256();
  __m256i sum = zero;
  for (size_t byte = 0; byte < length / 8; byte += 32) {
    for (size_t i = 0; i < LEVEL_PLANES; i++) {
      const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(planesA.plane[i] + byte));
      __m256i ones = zero;
      for (size_t j = LEVEL_PLANES; j-- > 0;) {
        const __m256i y =
            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(planesB.plane[j] + byte));
        // Bytes hold 7 times 8 at most.
        ones = _mm256_add_epi8(_mm256_add_epi8(ones, ones), onesInBytes(_mm256_and_si256(x, y)));
      }
      sum = _mm256_add_epi64(
          sum, _mm256_slli_epi64(_mm256_sad_epu8(ones, zero), static_cast<int>(i)));
    }
  }
  return total(sum);
}

const Kernels avx2Kernels{"avx2",        dotCommon,      dot1BitAvx2,      dot3BitAvx2,
                          dotLevelsAvx2, hadamardCommon, roundToBytesCommon, parseFractionsX86};

}  // namespace tessera
