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

const Kernels neonKernels{"neon",        dotCommon,       dot1BitNeon,    dot4BitCommon,
                          dotLevelsCommon, hadamardCommon, roundToBytesCommon, parseNoFractions};

}  // namespace tessera
