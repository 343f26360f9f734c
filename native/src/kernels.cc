#include "kernels.hpp"

namespace tessera {

size_t usableKernels(const Kernels* out[], size_t capacity) {
  size_t count = 0;
  const auto add = [&](const Kernels& kernels) {
    if (count < capacity) out[count++] = &kernels;
  };
  add(portableKernels);
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("bmi");
  if (avx2) add(avx2Kernels);
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512vpopcntdq");
  if (avx512) add(avx512Kernels);
#elif defined(__aarch64__)
  add(neonKernels);
#endif
  return count;
}

static const Kernels& choose() {
  const Kernels* usable[4];
  return *usable[usableKernels(usable, 4) - 1];
}

const Kernels& kernels() {
  static const Kernels& chosen = choose();
  return chosen;
}

}  // namespace tessera
