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

static int32_t dot4BitAvx2(const uint8_t* code, const int8_t* query, size_t length) {
  const __m256i nibble = _mm256_set1_epi8(15), one = _mm256_set1_epi16(1);
  __m256i sum = _mm256_setzero_si256();
  for (size_t block = 0; block < length; block += 64) {
    const __m256i both =
        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(code + block / 2));
    const __m256i* at = reinterpret_cast<const __m256i*>(query + block);
    // The sum of two products is at most 2 * 15 * 127 and does not saturate 16 bits.
    const __m256i low =
        _mm256_maddubs_epi16(_mm256_and_si256(both, nibble), _mm256_loadu_si256(at));
    const __m256i high =
        _mm256_maddubs_epi16(_mm256_and_si256(_mm256_srli_epi16(both, 4), nibble),
                             _mm256_loadu_si256(at + 1));
    sum = _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_add_epi16(low, high), one));
  }
  return totalOf32(sum);
}

static int32_t dotLevelsAvx2(const uint8_t* a, const uint8_t* b, size_t length) {
  const __m256i nibble = _mm256_set1_epi8(15), one = _mm256_set1_epi16(1);
  __m256i sum = _mm256_setzero_si256();
  for (size_t block = 0; block < length; block += 64) {
    const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(a + block / 2));
    const __m256i y = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b + block / 2));
    const __m256i low =
        _mm256_maddubs_epi16(_mm256_and_si256(x, nibble), _mm256_and_si256(y, nibble));
    const __m256i high = _mm256_maddubs_epi16(_mm256_and_si256(_mm256_srli_epi16(x, 4), nibble),
                                              _mm256_and_si256(_mm256_srli_epi16(y, 4), nibble));
    sum = _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_add_epi16(low, high), one));
  }
  return totalOf32(sum);
}

const Kernels avx2Kernels{"avx2",        dotCommon,      dot1BitAvx2,      dot4BitAvx2,
                          dotLevelsAvx2, hadamardCommon, roundToBytesCommon, parseFractionsX86};

}  // namespace tessera
