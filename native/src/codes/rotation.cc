#include "codes/rotation.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <vector>

#include "kernels/kernels.hpp"
#include "common/limits.hpp"

namespace tessera {

/// Rounds of sign flips and transforms. After two, even a vector with a single non-zero element
/// looks random.
static constexpr size_t ROUNDS = 2;
static constexpr uint64_t SEED = 0x7465737365726121ull;

/// The splitmix64 generator.
static uint64_t nextRandom(uint64_t& state) {
  uint64_t value = (state += 0x9e3779b97f4a7c15ull);
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ull;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebull;
  return value ^ (value >> 31);
}

/// The largest power of two that divides the dimension. The dimension is this power or three times this power.
static size_t blockLength(uint32_t dimension) { return size_t{dimension} & -size_t{dimension}; }

/// The sign flips of all rounds, scaled so that the transform preserves the length of a vector.
static const float* flips(uint32_t dimension) {
  static const auto tables = [] {
    std::array<std::vector<float>, DIMENSION_COUNT> all;
    for (size_t slot = 0; slot < DIMENSION_COUNT; slot++) {
      const uint32_t length = DIMENSIONS[slot];
      const float scale = 1 / std::sqrt(static_cast<float>(blockLength(length)));
      uint64_t state = SEED + length;
      all[slot].resize(ROUNDS * length);
      for (float& flip : all[slot]) flip = (nextRandom(state) >> 63) != 0 ? scale : -scale;
    }
    return all;
  }();
  return tables[static_cast<size_t>(dimensionSlot(dimension))].data();
}

/// Mixes three blocks by a reflection in the plane that is normal to (1, 1, 1).
static void mixThirds(float* values, size_t block) {
  for (size_t i = 0; i < block; i++) {
    float &a = values[i], &b = values[block + i], &c = values[2 * block + i];
    const float shift = (a + b + c) * (2.0f / 3.0f);
    a -= shift;
    b -= shift;
    c -= shift;
  }
}

void rotate(float* values, uint32_t dimension) {
  const size_t block = blockLength(dimension);
  const float* flip = flips(dimension);
  for (size_t round = 0; round < ROUNDS; round++, flip += dimension) {
    for (size_t i = 0; i < dimension; i++) values[i] *= flip[i];
    for (size_t start = 0; start < dimension; start += block) {
      kernels().hadamard(values + start, block);
    }
    if (block != dimension) mixThirds(values, block);
  }
}

}  // namespace tessera
