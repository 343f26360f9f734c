// Codes of vectors, and estimates of cosine similarity from them (after RaBitQ).
//
// A vector is brought to unit length and rotated; its code is the sign of each element of what is
// left after the centre of the index is taken away, with two numbers that turn a sum over the signs
// into an unbiased estimate. A query keeps four bits an element, so that only the code's side is
// coarse.
#pragma once
#include <cstdint>
#include <vector>

#include "kernels.hpp"

namespace tessera {

/// What follows the bits of a code.
struct CodeFactors {
  /// Turns the sum of the query's elements under the signs into a product with the residual.
  float scale;
  /// The product of the vector and the centre.
  float add;
};

/// What follows the nibbles of a fine code.
struct FineFactors {
  /// Turns the sum of products into a product with the residual.
  float scale;
  /// The product of the vector and the centre.
  float add;
};

/// A query in the form that estimates need.
struct CodedQuery {
  std::vector<uint64_t> planes;
  /// Width of a step of the query's elements.
  float step = 0;
  /// Sum of the query's elements in steps.
  int32_t total = 0;
  /// Added to every estimate.
  float constant = 0;
  /// The length of the query's residual.
  float residual = 0;
  /// The query for fine codes: signed bytes, the width of their step, and their sum.
  std::vector<int8_t> bytes;
  float byteStep = 0;
  int32_t byteTotal = 0;
};

class Codebook {
 public:
  explicit Codebook(uint32_t dimension);

  static size_t codeBytes(uint32_t dimension) { return dimension / 8 + sizeof(CodeFactors); }
  static size_t fineBytes(uint32_t dimension) { return dimension / 2 + sizeof(FineFactors); }

  uint32_t dimension() const { return dimension_; }
  size_t words() const { return dimension_ / 64; }
  /// The centre, rotated. Whoever changes it calls `centreChanged` before the next code.
  std::vector<float>& centre() { return centre_; }
  void centreChanged();

  /// Brings a vector to unit length and rotates it.
  void prepare(const float* vector, double inverseNorm, float* out) const;
  void encode(const float* prepared, uint8_t* code) const;
  void encodeFine(const float* prepared, uint8_t* code) const;
  void encodeQuery(const float* prepared, CodedQuery& out) const;

  CodeFactors factors(const uint8_t* code) const {
    CodeFactors factors;
    __builtin_memcpy(&factors, code + dimension_ / 8, sizeof factors);
    return factors;
  }

  /// Estimates the cosine similarity of a query and each of `count` codes.
  void estimate(const CodedQuery& query, const uint8_t* const* codes, size_t count,
                float* estimates) const;

  /// Estimates the cosine similarity of two coded vectors, less a constant of the codebook.
  float estimatePair(const uint8_t* a, const uint8_t* b) const;

  /// Estimates the cosine similarity of a query and a fine code.
  float estimateFine(const CodedQuery& query, const uint8_t* code) const;

  /// The standard errors of the two kinds of estimate, over the scale of the code (of one bit) and the
  /// length of the query's residual.
  static constexpr float ERROR = 0.612f;
  static constexpr float FINE_ERROR = 0.09f;

 private:
  uint32_t dimension_;
  float centreSquared_ = 0;
  std::vector<float> centre_;
  /// Cosine of the angle that a share of differing bits stands for.
  std::vector<float> cosines_;
};

}  // namespace tessera
