#include "kernels.hpp"

namespace tessera {

static double dotPortable(const float* a, const float* b, size_t length) {
  double lanes[8] = {0};
  for (size_t i = 0; i < length; i += 8) {
    for (size_t lane = 0; lane < 8; lane++) {
      lanes[lane] += static_cast<double>(a[i + lane]) * static_cast<double>(b[i + lane]);
    }
  }
  double sum = 0;
  for (const double lane : lanes) sum += lane;
  return sum;
}

const Kernels& kernels() {
  static const Kernels chosen{"portable", dotPortable};
  return chosen;
}

}  // namespace tessera
