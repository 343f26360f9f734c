// Kernels for x86-64 processors with AVX-512 and its population count.
#include <immintrin.h>

#include "kernels/fractions_x86.hpp"
#include "kernels/kernels_common.hpp"

namespace tessera {

/// The compiler knows `WORDS`, so the planes of the query stay in registers for all codes.
template <size_t WORDS>
static void dot1BitFixed(const uint8_t* const* codes, size_t count, const uint64_t* planes,
                             int32_t* sums) {
  constexpr size_t VECTORS = (WORDS + 7) / 8;
  constexpr __mmask8 TAIL = WORDS % 8 == 0 ? 0xff : (1u << (WORDS % 8)) - 1;
  __m512i query[QUERY_PLANES][VECTORS];
  for (size_t plane = 0; plane < QUERY_PLANES; plane++) {
    for (size_t v = 0; v < VECTORS; v++) {
      query[plane][v] = _mm512_maskz_loadu_epi64(v + 1 == VECTORS ? TAIL : 0xff,
                                                 planes + plane * WORDS + v * 8);
    }
  }
  for (size_t i = 0; i < count; i++) {
    __m512i ones[QUERY_PLANES] = {_mm512_setzero_si512(), _mm512_setzero_si512(),
                                  _mm512_setzero_si512(), _mm512_setzero_si512()};
    for (size_t v = 0; v < VECTORS; v++) {
      const __m512i bits =
          _mm512_maskz_loadu_epi64(v + 1 == VECTORS ? TAIL : 0xff, codes[i] + v * 64);
      for (size_t plane = 0; plane < QUERY_PLANES; plane++) {
        ones[plane] = _mm512_add_epi64(
            ones[plane], _mm512_popcnt_epi64(_mm512_and_si512(bits, query[plane][v])));
      }
    }
    const __m512i low = _mm512_add_epi64(ones[0], _mm512_slli_epi64(ones[1], 1));
    const __m512i high =
        _mm512_sub_epi64(_mm512_slli_epi64(ones[2], 2), _mm512_slli_epi64(ones[3], 3));
    sums[i] = static_cast<int32_t>(_mm512_reduce_add_epi64(_mm512_add_epi64(low, high)));
  }
}

static void dot1BitAvx512(const uint8_t* const* codes, size_t count, const uint64_t* planes,
                              size_t words, int32_t* sums) {
  switch (words) {
    case 768 / 64:
      return dot1BitFixed<768 / 64>(codes, count, planes, sums);
    case 1024 / 64:
      return dot1BitFixed<1024 / 64>(codes, count, planes, sums);
    case 1536 / 64:
      return dot1BitFixed<1536 / 64>(codes, count, planes, sums);
    case 3072 / 64:
      return dot1BitFixed<3072 / 64>(codes, count, planes, sums);
    case 4096 / 64:
      return dot1BitFixed<4096 / 64>(codes, count, planes, sums);
    default:
      return dot1BitCommon(codes, count, planes, words, sums);
  }
}

/// The levels of a block of 64: the low nibbles, then the high ones.
static inline __m512i levelsAt(const uint8_t* code, __m512i nibble) {
  const __m256i both = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(code));
  const __m512i spread =
      _mm512_inserti64x4(_mm512_castsi256_si512(both), _mm256_srli_epi16(both, 4), 1);
  return _mm512_and_si512(spread, nibble);
}

static int32_t dot4BitAvx512(const uint8_t* code, const int8_t* query, size_t length) {
  const __m512i nibble = _mm512_set1_epi8(15), one = _mm512_set1_epi16(1);
  __m512i sum = _mm512_setzero_si512();
  for (size_t block = 0; block < length; block += 64) {
    // The sum of two products is at most 2 * 15 * 127 and does not saturate 16 bits.
    const __m512i products = _mm512_maddubs_epi16(levelsAt(code + block / 2, nibble),
                                                  _mm512_loadu_si512(query + block));
    sum = _mm512_add_epi32(sum, _mm512_madd_epi16(products, one));
  }
  return _mm512_reduce_add_epi32(sum);
}

static int32_t dotLevelsAvx512(const uint8_t* a, const uint8_t* b, size_t length) {
  const __m512i nibble = _mm512_set1_epi8(15), one = _mm512_set1_epi16(1);
  __m512i sum = _mm512_setzero_si512();
  for (size_t block = 0; block < length / 2; block += 32) {
    const __m512i products =
        _mm512_maddubs_epi16(levelsAt(a + block, nibble), levelsAt(b + block, nibble));
    sum = _mm512_add_epi32(sum, _mm512_madd_epi16(products, one));
  }
  return _mm512_reduce_add_epi32(sum);
}

const Kernels avx512Kernels{"avx512",        dotCommon,      dot1BitAvx512,    dot4BitAvx512,
                            dotLevelsAvx512, hadamardCommon, parseFractionsX86};

}  // namespace tessera
