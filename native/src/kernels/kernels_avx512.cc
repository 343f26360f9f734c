// Kernels for x86-64 processors with AVX-512 and its population count.
#include <immintrin.h>

#include "kernels/fractions_x86.hpp"
#include "kernels/kernels_common.hpp"

namespace tessera {

/// The planes of a query in registers: the compiler knows `WORDS`.
template <size_t WORDS>
class Planes {
 public:
  explicit Planes(const uint64_t* planes) {
    for (size_t plane = 0; plane < QUERY_PLANES; plane++) {
      for (size_t v = 0; v < VECTORS; v++) {
        query_[plane][v] = _mm512_maskz_loadu_epi64(maskOf(v), planes + plane * WORDS + v * 8);
      }
    }
  }

  /// The sum of the query's elements where a code has a one, in eight parts.
  __m512i dot(const uint8_t* code) const {
    __m512i ones[QUERY_PLANES] = {_mm512_setzero_si512(), _mm512_setzero_si512(),
                                  _mm512_setzero_si512(), _mm512_setzero_si512()};
    for (size_t v = 0; v < VECTORS; v++) {
      const __m512i bits = _mm512_maskz_loadu_epi64(maskOf(v), code + v * 64);
      for (size_t plane = 0; plane < QUERY_PLANES; plane++) {
        ones[plane] = _mm512_add_epi64(
            ones[plane], _mm512_popcnt_epi64(_mm512_and_si512(bits, query_[plane][v])));
      }
    }
    const __m512i low = _mm512_add_epi64(ones[0], _mm512_slli_epi64(ones[1], 1));
    const __m512i high =
        _mm512_sub_epi64(_mm512_slli_epi64(ones[2], 2), _mm512_slli_epi64(ones[3], 3));
    return _mm512_add_epi64(low, high);
  }

 private:
  static constexpr size_t VECTORS = (WORDS + 7) / 8;
  static constexpr __mmask8 maskOf(size_t vector) {
    return vector + 1 < VECTORS || WORDS % 8 == 0 ? 0xff : (1u << (WORDS % 8)) - 1;
  }

  __m512i query_[QUERY_PLANES][VECTORS];
};

/// Adds up the parts of four sums.
static inline __m128i totalsOf(__m512i a, __m512i b, __m512i c, __m512i d) {
  const __m512i ab = _mm512_add_epi64(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
  const __m512i cd = _mm512_add_epi64(_mm512_unpacklo_epi64(c, d), _mm512_unpackhi_epi64(c, d));
  // The quarters 0 and 2, and 1 and 3, of each operand.
  const __m512i abcd =
      _mm512_add_epi64(_mm512_shuffle_i64x2(ab, cd, 0x88), _mm512_shuffle_i64x2(ab, cd, 0xdd));
  const __m512i folded = _mm512_add_epi64(abcd, _mm512_shuffle_i64x2(abcd, abcd, 0xb1));
  const __m512i order = _mm512_setr_epi64(0, 1, 4, 5, 0, 0, 0, 0);
  return _mm256_castsi256_si128(_mm512_cvtepi64_epi32(_mm512_permutexvar_epi64(order, folded)));
}

template <size_t WORDS>
static void dot1BitFixed(const uint8_t* const* codes, size_t count, const uint64_t* planes,
                             int32_t* sums) {
  const Planes<WORDS> query(planes);
  size_t i = 0;
  // Four at a time, because adding up the parts of a sum takes as long as the sum.
  for (; i + 4 <= count; i += 4) {
    const __m128i totals = totalsOf(query.dot(codes[i]), query.dot(codes[i + 1]),
                                    query.dot(codes[i + 2]), query.dot(codes[i + 3]));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(sums + i), totals);
  }
  for (; i < count; i++) {
    sums[i] = static_cast<int32_t>(_mm512_reduce_add_epi64(query.dot(codes[i])));
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

static int32_t dot3BitAvx512(Code3Bit code, const int8_t* query, size_t length) {
  const LevelPlanes planes(code, length);
  const __m512i one = _mm512_set1_epi16(1);
  __m512i sum = _mm512_setzero_si512();
  for (size_t word = 0; word < length / 64; word++) {
    __m512i levels = _mm512_maskz_set1_epi8(wordAt(planes.plane[0], word), 1);
    levels = _mm512_mask_add_epi8(levels, wordAt(planes.plane[1], word), levels, _mm512_set1_epi8(2));
    levels = _mm512_mask_add_epi8(levels, wordAt(planes.plane[2], word), levels, _mm512_set1_epi8(4));
    // The sum of two products is at most 2 * 7 * 127 and does not saturate 16 bits.
    const __m512i products = _mm512_maddubs_epi16(levels, _mm512_loadu_si512(query + word * 64));
    sum = _mm512_add_epi32(sum, _mm512_madd_epi16(products, one));
  }
  return _mm512_reduce_add_epi32(sum);
}

static int32_t dotLevelsAvx512(Code3Bit a, Code3Bit b, size_t length) {
  const LevelPlanes planesA(a, length), planesB(b, length);
  // Counts by the sum of the numbers of their planes.
  __m512i ones[2 * LEVEL_PLANES - 1];
  for (__m512i& weight : ones) weight = _mm512_setzero_si512();
  for (size_t byte = 0; byte < length / 8; byte += 64) {
    const size_t words = length / 64 - byte / 8;
    const auto mask = static_cast<__mmask8>(words < 8 ? (1u << words) - 1 : 0xff);
    __m512i x[LEVEL_PLANES], y[LEVEL_PLANES];
    for (size_t i = 0; i < LEVEL_PLANES; i++) {
      x[i] = _mm512_maskz_loadu_epi64(mask, planesA.plane[i] + byte);
      y[i] = _mm512_maskz_loadu_epi64(mask, planesB.plane[i] + byte);
    }
    for (size_t i = 0; i < LEVEL_PLANES; i++) {
      for (size_t j = 0; j < LEVEL_PLANES; j++) {
        const __m512i both = _mm512_and_si512(x[i], y[j]);
        ones[i + j] = _mm512_add_epi64(ones[i + j], _mm512_popcnt_epi64(both));
      }
    }
  }
  __m512i sum = ones[2 * LEVEL_PLANES - 2];
  for (size_t weight = 2 * LEVEL_PLANES - 2; weight-- > 0;) {
    sum = _mm512_add_epi64(_mm512_add_epi64(sum, sum), ones[weight]);
  }
  return static_cast<int32_t>(_mm512_reduce_add_epi64(sum));
}

const Kernels avx512Kernels{"avx512",        dotCommon,      dot1BitAvx512,    dot3BitAvx512,
                            dotLevelsAvx512, hadamardCommon, roundToBytesCommon, parseFractionsX86};

}  // namespace tessera
