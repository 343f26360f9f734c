// Kernels for 64-bit ARM processors.
#include <arm_neon.h>

#include "kernels/kernels_common.hpp"

namespace tessera {

static void dot1BitNeon(const uint8_t* const* codes, size_t count, const uint64_t* planes,
                            size_t words, int32_t* sums) {
  for (size_t i = 0; i < count; i++) {
    // Counts in 16-bit lanes cannot overflow: at most 32 steps add at most 16 each.
    uint16x8_t ones[QUERY_PLANES] = {vdupq_n_u16(0), vdupq_n_u16(0), vdupq_n_u16(0),
                                     vdupq_n_u16(0)};
    for (size_t word = 0; word < words; word += 2) {
      const uint8x16_t bits = vld1q_u8(codes[i] + word * 8);
      for (size_t plane = 0; plane < QUERY_PLANES; plane++) {
        const uint8x16_t query =
            vld1q_u8(reinterpret_cast<const uint8_t*>(planes + plane * words + word));
        ones[plane] = vpadalq_u8(ones[plane], vcntq_u8(vandq_u8(bits, query)));
      }
    }
    int32_t totals[QUERY_PLANES];
    for (size_t plane = 0; plane < QUERY_PLANES; plane++) {
      totals[plane] = static_cast<int32_t>(vaddlvq_u16(ones[plane]));
    }
    sums[i] = totals[0] + 2 * totals[1] + 4 * totals[2] - 8 * totals[3];
  }
}

/// `value` in each byte whose bit among 16 is set.
static inline uint8x16_t spreadBits(const uint8_t* bits, uint8_t value) {
  const uint8x16_t bit = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
  const uint8x16_t own = vcombine_u8(vdup_n_u8(bits[0]), vdup_n_u8(bits[1]));
  return vandq_u8(vtstq_u8(own, bit), vdupq_n_u8(value));
}

static int32_t dot3BitNeon(Code3Bit code, const int8_t* query, size_t length) {
  const LevelPlanes planes(code, length);
  int32x4_t sum = vdupq_n_s32(0);
  for (size_t byte = 0; byte < length / 8; byte += 2) {
    uint8x16_t levels = spreadBits(planes.plane[0] + byte, 1);
    levels = vorrq_u8(levels, spreadBits(planes.plane[1] + byte, 2));
    levels = vorrq_u8(levels, spreadBits(planes.plane[2] + byte, 4));
    const int8x16_t left = vreinterpretq_s8_u8(levels), right = vld1q_s8(query + byte * 8);
    int16x8_t products = vmull_s8(vget_low_s8(left), vget_low_s8(right));
    products = vmlal_s8(products, vget_high_s8(left), vget_high_s8(right));
    sum = vpadalq_s16(sum, products);
  }
  return vaddvq_s32(sum);
}

static int32_t dotLevelsNeon(Code3Bit a, Code3Bit b, size_t length) {
  const LevelPlanes planesA(a, length), planesB(b, length);
  // Counts in 16-bit lanes cannot overflow: at most 32 steps add at most 2 times 7 times 8 each.
  uint16x8_t sums[LEVEL_PLANES] = {vdupq_n_u16(0), vdupq_n_u16(0), vdupq_n_u16(0)};
  for (size_t byte = 0; byte < length / 8; byte += 16) {
    for (size_t i = 0; i < LEVEL_PLANES; i++) {
      const uint8x16_t x = vld1q_u8(planesA.plane[i] + byte);
      uint8x16_t ones = vdupq_n_u8(0);
      for (size_t j = LEVEL_PLANES; j-- > 0;) {
        const uint8x16_t y = vld1q_u8(planesB.plane[j] + byte);
        ones = vaddq_u8(vaddq_u8(ones, ones), vcntq_u8(vandq_u8(x, y)));
      }
      sums[i] = vpadalq_u8(sums[i], ones);
    }
  }
  uint32_t sum = 0;
  for (size_t i = 0; i < LEVEL_PLANES; i++) sum += vaddlvq_u16(sums[i]) << i;
  return static_cast<int32_t>(sum);
}

const Kernels neonKernels{"neon",        dotCommon,       dot1BitNeon,      dot3BitNeon,
                          dotLevelsNeon, hadamardCommon, roundToBytesCommon, parseNoFractions};

}  // namespace tessera
