// Codes of vectors and estimates of cosine similarity from them, after RaBitQ.
//
// A vector is normalised, rotated and centred on the mean of its index. The result is its residual. The
// 1-bit code holds the sign of each element of the residual. Two further bits per element,
// the refinement, make it a 3-bit code, which holds a level. Factors after the bits turn a sum over
// them into an unbiased estimate. A query keeps four bits per element against 1-bit codes and eight bits
// against 3-bit codes, so that the error comes from the code alone.
#pragma once
#include <cstdint>
#include <vector>

#include "kernels/kernels.hpp"

namespace tessera {

/// Follows the bits of a 1-bit code.
struct Factors1Bit {
  /// Turns the sum of the query's elements under the signs into a product with the residual.
  float scale;
  /// The product of the vector and the centre.
  float add;
};

/// Follows the bits of a refinement.
struct Factors3Bit {
  /// Turns the sum of products into a product with the residual.
  float scale;
  /// The sum of the levels.
  float total;
};

/// A query in the form that estimates need.
struct QuantizedQuery {
  /// Against 1-bit codes: bit planes of the elements, the width of their step, and their sum in
  /// steps.
  std::vector<uint64_t> planes;
  float step = 0;
  int32_t total = 0;
  /// Against 3-bit codes: the elements as signed bytes, the width of their step, and their sum.
  std::vector<int8_t> bytes;
  float byteStep = 0;
  int32_t byteTotal = 0;
  /// Added to every estimate.
  float constant = 0;
  float residualLength = 0;
};

class RabitqQuantizer {
 public:
  explicit RabitqQuantizer(uint32_t dimension);

  static size_t code1BitBytes(uint32_t dimension) { return dimension / 8 + sizeof(Factors1Bit); }
  static size_t refinementBytes(uint32_t dimension) { return dimension / 4 + sizeof(Factors3Bit); }

  uint32_t dimension() const { return dimension_; }
  size_t words() const { return dimension_ / 64; }
  /// The centre, rotated. A caller that changes it calls `centreChanged` before the next code.
  std::vector<float>& centre() { return centre_; }
  void centreChanged();

  /// Normalises a vector and rotates it.
  static void prepare(const float* vector, double inverseNorm, uint32_t dimension, float* out);
  /// Writes the 1-bit code and its refinement.
  void encode(const float* prepared, uint8_t* code1Bit, uint8_t* refinement) const;
  /// The vector of a 3-bit code, normalised and rotated.
  void decode(Code3Bit code, float* prepared) const;
  void encodeQuery(const float* prepared, QuantizedQuery& out) const;
  /// Encodes the vector of a 3-bit code as a query.
  void encodeCodeAsQuery(Code3Bit code, QuantizedQuery& out) const;

  /// The length of a residual, divided by the scale of its 1-bit code.
  float residualLengthPerScale() const { return residualLengthPerScale_; }

  Factors1Bit factors1Bit(const uint8_t* code) const {
    Factors1Bit factors;
    __builtin_memcpy(&factors, code + dimension_ / 8, sizeof factors);
    return factors;
  }

  /// Estimates the cosine similarity of a query and each of `count` 1-bit codes.
  void estimate1Bit(const QuantizedQuery& query, const uint8_t* const* codes, size_t count,
                    float* estimates) const;
  /// Estimates the cosine similarity of a query and a 3-bit code.
  float estimate3Bit(const QuantizedQuery& query, Code3Bit code) const;
  /// The standard error of that estimate.
  float error3Bit(const QuantizedQuery& query, const uint8_t* code1Bit) const {
    return ERROR_3BIT * factors1Bit(code1Bit).scale * query.residualLength;
  }
  /// Estimates the cosine similarity of two vectors from their 3-bit codes.
  float estimatePair(Code3Bit a, Code3Bit b) const;

  /// Standard errors of the estimates, divided by the scale of the 1-bit code and the length of the
  /// query's residual.
  static constexpr float ERROR_1BIT = 0.612f;
  static constexpr float ERROR_3BIT = 0.16f;
  /// Standard errors by which an estimate may be too low before its candidate is missed. The errors are close to
  /// normal: one in 160 is larger, and few of the larger ones are at the end of a list.
  static constexpr float ERROR_MARGIN = 2.5f;

 private:
  Factors3Bit factors3Bit(Code3Bit code) const {
    Factors3Bit factors;
    __builtin_memcpy(&factors, code.rest + dimension_ / 4, sizeof factors);
    return factors;
  }

  uint32_t dimension_;
  float residualLengthPerScale_;
  float centreSquared_ = 0;
  std::vector<float> centre_;
};

}  // namespace tessera
