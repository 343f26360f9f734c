// The requirements on stored vectors and query vectors.
#pragma once
#include <cstddef>

namespace tessera {

/// True when all elements are finite and at least one is not zero.
inline bool isUsableVector(const float* vector, size_t length) {
  // Zero times anything finite is zero; an infinity or a NaN makes the sum NaN.
  float poison = 0;
  bool nonzero = false;
  for (size_t i = 0; i < length; i++) {
    poison += vector[i] * 0.0f;
    nonzero |= vector[i] != 0.0f;
  }
  return poison == 0.0f && nonzero;
}

}  // namespace tessera
