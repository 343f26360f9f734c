#include "codes/rabitq_quantizer.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "codes/rotation.hpp"

namespace tessera {

/// The mean of |x| divided by the root mean square of x, for a normal distribution. The elements of
/// a rotated vector are close to one.
static constexpr float SIGN_ALIGNMENT = 0.7978846f;
/// The step of the 4-bit quantizer with the least error for that distribution, in units of the root
/// mean square.
static constexpr float OPTIMAL_STEP = 0.335f;
/// The step of a query's bytes in the same units: 127 steps are five times the root mean square.
static constexpr float BYTE_STEP = 5.0f / 127;
/// The level of zero, between the 16 levels of a 4-bit code.
static constexpr float MIDDLE_LEVEL = 7.5f;
static constexpr size_t ESTIMATE_BATCH = 64;
/// More than rounding to float32 can change a sum over the elements of two vectors.
static constexpr float FLOAT_ERROR = 1e-3f;

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

void RabitqQuantizer::encode1Bit(const float* prepared, uint8_t* code) const {
  float absolute = 0, squares = 0, product = 0;
  for (uint32_t byte = 0; byte < dimension_ / 8; byte++) {
    uint8_t bits = 0;
    for (uint32_t bit = 0; bit < 8; bit++) {
      const uint32_t i = byte * 8 + bit;
      const float residual = prepared[i] - centre_[i];
      bits |= static_cast<uint8_t>((residual > 0) << bit);
      absolute += std::fabs(residual);
      squares += residual * residual;
      product += prepared[i] * centre_[i];
    }
    code[byte] = bits;
  }
  const Factors1Bit factors{absolute > 0 ? squares / absolute : 0, product};
  std::memcpy(code + dimension_ / 8, &factors, sizeof factors);
}

void RabitqQuantizer::encode4Bit(const float* prepared, uint8_t* code) const {
  float squares = 0, product = 0, aligned = 0, total = 0;
  for (uint32_t i = 0; i < dimension_; i++) {
    const float residual = prepared[i] - centre_[i];
    squares += residual * residual;
    product += prepared[i] * centre_[i];
  }
  const float rms = std::sqrt(squares / static_cast<float>(dimension_));
  const float inverseStep = rms > 0 ? 1 / (OPTIMAL_STEP * rms) : 0;
  const auto level = [&](uint32_t i) {
    const float residual = prepared[i] - centre_[i];
    const float rounded = std::floor(std::clamp(residual * inverseStep + 8, 0.0f, 15.0f));
    aligned += (rounded - MIDDLE_LEVEL) * residual;
    total += rounded;
    return static_cast<uint8_t>(rounded);
  };
  for (uint32_t block = 0; block < dimension_; block += 64) {
    for (uint32_t i = block; i < block + 32; i++) {
      const uint8_t low = level(i);
      *code++ = static_cast<uint8_t>(low | level(i + 32) << 4);
    }
  }
  const Factors4Bit factors{aligned > 0 ? squares / aligned : 0, product, total};
  std::memcpy(code, &factors, sizeof factors);
}

void RabitqQuantizer::decode4Bit(const uint8_t* code, float* prepared) const {
  Factors4Bit factors;
  std::memcpy(&factors, code + dimension_ / 2, sizeof factors);
  const auto element = [&](uint32_t i, int level) {
    return centre_[i] + factors.scale * (static_cast<float>(level) - MIDDLE_LEVEL);
  };
  for (uint32_t block = 0; block < dimension_; block += 64) {
    for (uint32_t i = block; i < block + 32; i++, code++) {
      prepared[i] = element(i, *code & 15);
      prepared[i + 32] = element(i + 32, *code >> 4);
    }
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
  out.step = OPTIMAL_STEP * rms;
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

void RabitqQuantizer::encodeCodeAsQuery(const uint8_t* code, QuantizedQuery& out) const {
  static thread_local std::vector<float> prepared;
  prepared.resize(dimension_);
  decode4Bit(code, prepared.data());
  encodeQuery(prepared.data(), out);
}

float RabitqQuantizer::byteError(const float* prepared, const QuantizedQuery& query) const {
  float squares = 0;
  for (uint32_t i = 0; i < dimension_; i++) {
    const float rounded = query.byteStep * static_cast<float>(query.bytes[i]);
    const float left = prepared[i] - centre_[i] - rounded;
    squares += left * left;
  }
  return std::sqrt(squares);
}

float RabitqQuantizer::estimate4Bit(const QuantizedQuery& query, const uint8_t* code) const {
  Factors4Bit factors;
  std::memcpy(&factors, code + dimension_ / 2, sizeof factors);
  const int32_t sum = kernels().dot4Bit(code, query.bytes.data(), dimension_);
  const float product =
      query.byteStep * (static_cast<float>(sum) - MIDDLE_LEVEL * static_cast<float>(query.byteTotal));
  return factors.scale * product + factors.add + query.constant;
}

/// The levels stand for the vector u = r + e, where r is the residual. Its scale makes e orthogonal to
/// r, so |e|^2 = |u|^2 - |r|^2. The estimate is the product of u and the rounded query. It errs by the
/// product of e and the query's residual, and by that of u and what rounding the query has left; a
/// product is at most that of the lengths.
ScoreBounds RabitqQuantizer::bounds4Bit(const QuantizedQuery& query, float byteError,
                                        const uint8_t* code) const {
  Factors4Bit factors;
  std::memcpy(&factors, code + dimension_ / 2, sizeof factors);
  const float levelSquares = static_cast<float>(kernels().dotLevels(code, code, dimension_)) -
                             2 * MIDDLE_LEVEL * factors.total +
                             MIDDLE_LEVEL * MIDDLE_LEVEL * static_cast<float>(dimension_);
  const float squares = factors.scale * factors.scale * levelSquares;
  // The vector has length 1, and its product with the centre is known.
  const float residualSquares = 1 - 2 * factors.add + centreSquared_;
  const float errorSquares = std::max(squares - residualSquares, 0.0f) + FLOAT_ERROR;
  const float margin = std::sqrt(errorSquares) * query.residualLength +
                       std::sqrt(squares) * byteError + FLOAT_ERROR;
  const float estimate = estimate4Bit(query, code);
  return {estimate - margin, estimate + margin};
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

float RabitqQuantizer::estimatePair(const uint8_t* a, const uint8_t* b) const {
  Factors4Bit x, y;
  std::memcpy(&x, a + dimension_ / 2, sizeof x);
  std::memcpy(&y, b + dimension_ / 2, sizeof y);
  const auto levels = static_cast<float>(kernels().dotLevels(a, b, dimension_));
  // Each level stands for itself minus the middle.
  const float product = levels - MIDDLE_LEVEL * (x.total + y.total) +
                        MIDDLE_LEVEL * MIDDLE_LEVEL * static_cast<float>(dimension_);
  return x.scale * y.scale * product + x.add + y.add - centreSquared_;
}

}  // namespace tessera
