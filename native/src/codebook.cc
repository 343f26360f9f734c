#include "codebook.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include "rotation.hpp"

namespace tessera {

/// The mean of |x| over the root of the mean of x^2, for the normal distribution that a rotated
/// vector's elements follow closely.
static constexpr float SIGN_ALIGNMENT = 0.7978846f;
/// The step of the four-bit quantiser with the least error for that distribution, in units of the
/// root mean square.
static constexpr float OPTIMAL_STEP = 0.335f;
/// Error of an estimate over scale and residual: what the signs leave open, and the query's rounding.
static constexpr float ERROR_FACTOR = 0.612f;
static constexpr size_t ESTIMATE_BATCH = 64;

Codebook::Codebook(uint32_t dimension)
    : dimension_(dimension), errorFactor_(ERROR_FACTOR), centre_(dimension, 0.0f) {
  for (uint32_t different = 0; different <= dimension; different++) {
    cosines_.push_back(
        static_cast<float>(std::cos(std::numbers::pi * different / dimension)));
  }
}

void Codebook::centreChanged() {
  centreSquared_ = static_cast<float>(kernels().dot(centre_.data(), centre_.data(), dimension_));
}

void Codebook::prepare(const float* vector, double inverseNorm, float* out) const {
  for (uint32_t i = 0; i < dimension_; i++) {
    out[i] = static_cast<float>(vector[i] * inverseNorm);
  }
  rotate(out, dimension_);
}

void Codebook::encode(const float* prepared, uint8_t* code) const {
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
  const CodeFactors factors{absolute > 0 ? squares / absolute : 0, product};
  std::memcpy(code + dimension_ / 8, &factors, sizeof factors);
}

void Codebook::encodeQuery(const float* prepared, CodedQuery& out) const {
  static thread_local std::vector<float> residuals;
  residuals.resize(dimension_);
  float squares = 0, product = 0;
  for (uint32_t i = 0; i < dimension_; i++) {
    residuals[i] = prepared[i] - centre_[i];
    squares += residuals[i] * residuals[i];
    product += prepared[i] * centre_[i];
  }
  out.residual = std::sqrt(squares);
  out.step = OPTIMAL_STEP * out.residual / std::sqrt(static_cast<float>(dimension_));
  out.constant = product - centreSquared_;
  out.planes.assign(QUERY_PLANES * words(), 0);
  out.total = 0;
  const float inverseStep = out.step > 0 ? 1 / out.step : 0;
  for (size_t word = 0; word < words(); word++) {
    uint64_t planes[QUERY_PLANES] = {0};
    for (size_t bit = 0; bit < 64; bit++) {
      const float steps = std::clamp(residuals[word * 64 + bit] * inverseStep, -8.0f, 7.0f);
      const int rounded = static_cast<int>(steps + 8.5f) - 8;
      out.total += rounded;
      for (size_t plane = 0; plane < QUERY_PLANES; plane++) {
        planes[plane] |= static_cast<uint64_t>((rounded >> plane) & 1) << bit;
      }
    }
    for (size_t plane = 0; plane < QUERY_PLANES; plane++) {
      out.planes[plane * words() + word] = planes[plane];
    }
  }
}

void Codebook::estimate(const CodedQuery& query, const uint8_t* const* codes, size_t count,
                        float* estimates) const {
  int32_t sums[ESTIMATE_BATCH];
  for (size_t done = 0; done < count; done += ESTIMATE_BATCH) {
    const size_t batch = std::min(ESTIMATE_BATCH, count - done);
    kernels().sumSelected(codes + done, batch, query.planes.data(), words(), sums);
    for (size_t i = 0; i < batch; i++) {
      const CodeFactors code = factors(codes[done + i]);
      const float product = query.step * static_cast<float>(2 * sums[i] - query.total);
      estimates[done + i] = code.scale * product + code.add + query.constant;
    }
  }
}

float Codebook::estimatePair(const uint8_t* a, const uint8_t* b) const {
  const CodeFactors left = factors(a), right = factors(b);
  // scale = length / (alignment * root of the dimension)
  const float lengths = left.scale * right.scale * SIGN_ALIGNMENT * SIGN_ALIGNMENT *
                        static_cast<float>(dimension_);
  // The centre's own square is the same for all pairs, and only comparisons matter.
  return lengths * cosines_[kernels().hamming(a, b, words())] + left.add + right.add;
}

}  // namespace tessera
