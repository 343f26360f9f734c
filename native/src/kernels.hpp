// Arithmetic over vectors, chosen once at start for the processor at hand.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tessera {

struct Kernels {
  const char* name;
  /// Dot product of two float32 vectors, accumulated in double precision.
  double (*dot)(const float* a, const float* b, size_t length);
};

const Kernels& kernels();

}  // namespace tessera
