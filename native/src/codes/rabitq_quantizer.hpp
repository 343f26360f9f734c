// Codes of vectors and estimates of cosine similarity from them, after RaBitQ.
//
// A vector is normalised, rotated and centred on the mean of its index; what remains is its
// residual. The 1-bit code holds the sign of each element of the residual, the 4-bit code holds its
// level. Two factors after each code turn a sum over it into an unbiased estimate. A query keeps
// four bits per element against 1-bit codes and eight bits against 4-bit codes, so that the error
// comes from the code alone.
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

/// Follows the levels of a 4-bit code.
struct Factors4Bit {
  /// Turns the sum of products into a product with the residual.
  float scale;
  /// The product of the vector and the centre.
  float add;
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
  /// Against 4-bit codes: the elements as signed bytes, the width of their step, and their sum.
  std::vector<int8_t> bytes;
  float byteStep = 0;
  int32_t byteTotal = 0;
  /// Added to every estimate.
  float constant = 0;
  float residualLength = 0;
};

/// Between which values a cosine similarity is.
struct ScoreBounds {
  float lowest;
  float highest;
};

class RabitqQuantizer {
 public:
  explicit RabitqQuantizer(uint32_t dimension);

  static size_t code1BitBytes(uint32_t dimension) { return dimension / 8 + sizeof(Factors1Bit); }
  static size_t code4BitBytes(uint32_t dimension) { return dimension / 2 + sizeof(Factors4Bit); }

  uint32_t dimension() const { return dimension_; }
  size_t words() const { return dimension_ / 64; }
  /// The centre, rotated. A caller that changes it calls `centreChanged` before the next code.
  std::vector<float>& centre() { return centre_; }
  void centreChanged();

  /// Normalises a vector and rotates it.
  static void prepare(const float* vector, double inverseNorm, uint32_t dimension, float* out);
  void encode1Bit(const float* prepared, uint8_t* code) const;
  void encode4Bit(const float* prepared, uint8_t* code) const;
  /// The vector that a 4-bit code stands for, normalised and rotated.
  void decode4Bit(const uint8_t* code, float* prepared) const;
  void encodeQuery(const float* prepared, QuantizedQuery& out) const;
  /// Makes the vector that a 4-bit code stands for a query.
  void encodeCodeAsQuery(const uint8_t* code, QuantizedQuery& out) const;

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
  /// Estimates the cosine similarity of a query and a 4-bit code.
  float estimate4Bit(const QuantizedQuery& query, const uint8_t* code) const;
  /// The length of what rounding a query to bytes has left of its residual.
  float byteError(const float* prepared, const QuantizedQuery& query) const;
  /// Bounds the cosine similarity of a query, with its `byteError`, and the vector of a 4-bit code. Unlike
  /// estimates, which err by chance, the bounds always hold.
  ScoreBounds bounds4Bit(const QuantizedQuery& query, float byteError, const uint8_t* code) const;
  /// Estimates the cosine similarity of two vectors from their 4-bit codes.
  float estimatePair(const uint8_t* a, const uint8_t* b) const;

  /// Standard errors of the estimates, divided by the scale of the 1-bit code and the length of the
  /// query's residual.
  static constexpr float ERROR_1BIT = 0.612f;
  static constexpr float ERROR_4BIT = 0.09f;
  /// Standard errors by which an estimate may be wrong before its candidate is missed. The errors
  /// are close to normal: one in seven hundred is larger.
  static constexpr float ERROR_MARGIN = 3.0f;

 private:
  uint32_t dimension_;
  float residualLengthPerScale_;
  float centreSquared_ = 0;
  std::vector<float> centre_;
};

}  // namespace tessera
