#include "codes/rabitq_quantizer.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "codes/rotation.hpp"

namespace tessera {

/// The mean of |x| divided by the root mean square of x, for a normal distribution. The elements of
/// a rotated vector are close to one.
static constexpr float SIGN_ALIGNMENT = 0.7978846f;
/// The steps of the quantizers to 16 and 8 levels with the least error for that distribution, in units of the
/// root mean square.
static constexpr float OPTIMAL_STEP_16 = 0.335f;
static constexpr float OPTIMAL_STEP_8 = 0.586f;
/// The step of a query's bytes in the same units: 127 steps are five times the root mean square.
static constexpr float BYTE_STEP = 5.0f / 127;
/// The level of zero, between the eight levels of a 3-bit code.
static constexpr float MIDDLE_LEVEL = 3.5f;
static constexpr size_t ESTIMATE_BATCH = 64;

RabitqQuantizer::RabitqQuantizer(uint32_t dimension)
    : dimension_(dimension),
      residualLengthPerScale_(SIGN_ALIGNMENT * std::sqrt(static_cast<float>(dimension))),
      centre_(dimension, 0.0f) {}

void RabitqQuantizer::centreChanged() {
  centreSquared_ = static_cast<float>(kernels().dot(centre_.data(), centre_.data(), dimension_));
}

void RabitqQuantizer::prepare(const float* vector, double inverseNorm, uint32_t dimension,
                              float* out) {
  for (uint32_t i = 0; i < dimension; i++) out[i] = static_cast<float>(vector[i] * inverseNorm);
  rotate(out, dimension);
}

void RabitqQuantizer::encode(const float* prepared, uint8_t* code1Bit, uint8_t* refinement) const {
  float absolute = 0, squares = 0, product = 0;
  for (uint32_t i = 0; i < dimension_; i++) {
    const float residual = prepared[i] - centre_[i];
    absolute += std::fabs(residual);
    squares += residual * residual;
    product += prepared[i] * centre_[i];
  }
  const Factors1Bit factors1Bit{absolute > 0 ? squares / absolute : 0, product};
  const float rms = std::sqrt(squares / static_cast<float>(dimension_));
  const float inverseStep = rms > 0 ? 1 / (OPTIMAL_STEP_8 * rms) : 0;
  float aligned = 0, total = 0;
  std::memset(code1Bit, 0, dimension_ / 8);
  std::memset(refinement, 0, dimension_ / 4);
  uint8_t *middle = refinement, *lowest = refinement + dimension_ / 8;
  for (uint32_t i = 0; i < dimension_; i++) {
    const float residual = prepared[i] - centre_[i];
    const auto distance = static_cast<uint32_t>(std::min(std::fabs(residual) * inverseStep, 3.0f));
    const uint32_t level = residual > 0 ? 4 + distance : 3 - distance;
    code1Bit[i / 8] |= static_cast<uint8_t>((level >> 2) << i % 8);
    middle[i / 8] |= static_cast<uint8_t>((level >> 1 & 1) << i % 8);
    lowest[i / 8] |= static_cast<uint8_t>((level & 1) << i % 8);
    aligned += (static_cast<float>(level) - MIDDLE_LEVEL) * residual;
    total += static_cast<float>(level);
  }
  const Factors3Bit factors3Bit{aligned > 0 ? squares / aligned : 0, total};
  std::memcpy(code1Bit + dimension_ / 8, &factors1Bit, sizeof factors1Bit);
  std::memcpy(refinement + dimension_ / 4, &factors3Bit, sizeof factors3Bit);
}

void RabitqQuantizer::decode(Code3Bit code, float* prepared) const {
  const float scale = factors3Bit(code).scale;
  for (uint32_t i = 0; i < dimension_; i++) {
    const auto bit = [&](const uint8_t* plane) { return plane[i / 8] >> i % 8 & 1; };
    const int level = bit(code.signs) << 2 | bit(code.rest) << 1 | bit(code.rest + dimension_ / 8);
    prepared[i] = centre_[i] + scale * (static_cast<float>(level) - MIDDLE_LEVEL);
  }
}

/// The lowest bit of each of eight bytes, that of the first byte lowest.
static inline uint64_t gatherBits(uint64_t bytes) {
  return ((bytes & 0x0101010101010101ull) * 0x0102040810204080ull) >> 56;
}

void RabitqQuantizer::encodeQuery(const float* prepared, QuantizedQuery& out) const {
  static thread_local std::vector<float> residuals;
  static thread_local std::vector<int8_t> rounded;
  residuals.resize(dimension_);
  rounded.resize(dimension_);
  for (uint32_t i = 0; i < dimension_; i++) residuals[i] = prepared[i] - centre_[i];
  const double product = kernels().dot(prepared, centre_.data(), dimension_);
  const double squares = kernels().dot(residuals.data(), residuals.data(), dimension_);
  out.residualLength = static_cast<float>(std::sqrt(squares));
  out.constant = static_cast<float>(product) - centreSquared_;

  const float rms = out.residualLength / std::sqrt(static_cast<float>(dimension_));
  out.step = OPTIMAL_STEP_16 * rms;
  const float inverseStep = rms > 0 ? 1 / out.step : 0;
  out.total = kernels().roundToBytes(residuals.data(), dimension_, inverseStep, -8, 7, rounded.data());
  out.planes.resize(QUERY_PLANES * words());
  uint8_t* planes = reinterpret_cast<uint8_t*>(out.planes.data());
  for (uint32_t byte = 0; byte < dimension_ / 8; byte++) {
    uint64_t eight;
    std::memcpy(&eight, rounded.data() + byte * 8, 8);
    for (size_t plane = 0; plane < QUERY_PLANES; plane++) {
      planes[plane * dimension_ / 8 + byte] = static_cast<uint8_t>(gatherBits(eight >> plane));
    }
  }

  out.bytes.resize(dimension_);
  out.byteStep = rms * BYTE_STEP;
  const float inverseByteStep = rms > 0 ? 1 / out.byteStep : 0;
  out.byteTotal =
      kernels().roundToBytes(residuals.data(), dimension_, inverseByteStep, -127, 127, out.bytes.data());
}

void RabitqQuantizer::encodeCodeAsQuery(Code3Bit code, QuantizedQuery& out) const {
  static thread_local std::vector<float> prepared;
  prepared.resize(dimension_);
  decode(code, prepared.data());
  encodeQuery(prepared.data(), out);
}

float RabitqQuantizer::estimate3Bit(const QuantizedQuery& query, Code3Bit code) const {
  const int32_t sum = kernels().dot3Bit(code, query.bytes.data(), dimension_);
  const float product =
      query.byteStep * (static_cast<float>(sum) - MIDDLE_LEVEL * static_cast<float>(query.byteTotal));
  return factors3Bit(code).scale * product + factors1Bit(code.signs).add + query.constant;
}

void RabitqQuantizer::estimate1Bit(const QuantizedQuery& query, const uint8_t* const* codes,
                                   size_t count, float* estimates) const {
  int32_t sums[ESTIMATE_BATCH];
  for (size_t done = 0; done < count; done += ESTIMATE_BATCH) {
    const size_t batch = std::min(ESTIMATE_BATCH, count - done);
    kernels().dot1Bit(codes + done, batch, query.planes.data(), words(), sums);
    for (size_t i = 0; i < batch; i++) {
      const Factors1Bit code = factors1Bit(codes[done + i]);
      const float product = query.step * static_cast<float>(2 * sums[i] - query.total);
      estimates[done + i] = code.scale * product + code.add + query.constant;
    }
  }
}

float RabitqQuantizer::estimatePair(Code3Bit a, Code3Bit b) const {
  const Factors3Bit x = factors3Bit(a), y = factors3Bit(b);
  const auto levels = static_cast<float>(kernels().dotLevels(a, b, dimension_));
  // The value of a level is the level minus the middle.
  const float product = levels - MIDDLE_LEVEL * (x.total + y.total) +
                        MIDDLE_LEVEL * MIDDLE_LEVEL * static_cast<float>(dimension_);
  return x.scale * y.scale * product + factors1Bit(a.signs).add + factors1Bit(b.signs).add -
         centreSquared_;
}

}  // namespace tessera
