// Cosines in double precision.
#pragma once
#include <algorithm>

namespace tessera {

/// The cosine of two vectors from their dot product and one over the length of each. Rounding errors make a
/// vector's cosine with itself less than 1. It counts as 1, so that it reaches any threshold.
inline double cosineOf(double dot, double inverseNorm, double otherInverseNorm) {
  static constexpr double ROUNDING = 1e-14;
  const double cosine = dot * inverseNorm * otherInverseNorm;
  return cosine > 1 - ROUNDING ? 1 : std::max(cosine, -1.0);
}

}  // namespace tessera
