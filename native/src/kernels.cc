#include "kernels.hpp"

#include <atomic>

namespace tessera {

size_t usableKernels(const Kernels* out[MAX_KERNELS]) {
  size_t count = 0;
  out[count++] = &portableKernels;
#if defined(__x86_64__)
  // The build defines these conditions from the very list of instruction sets that it compiles each
  // file for, so that none of them can be forgotten here.
  __builtin_cpu_init();
  if (TESSERA_CPU_HAS_AVX2) out[count++] = &avx2Kernels;
  if (TESSERA_CPU_HAS_AVX512) out[count++] = &avx512Kernels;
#elif defined(__aarch64__)
  out[count++] = &neonKernels;
#endif
  return count;
}

static const Kernels* fastest() {
  const Kernels* usable[MAX_KERNELS];
  return usable[usableKernels(usable) - 1];
}

static std::atomic<const Kernels*> chosen{fastest()};

const Kernels& kernels() { return *chosen.load(std::memory_order_relaxed); }

void chooseKernels(const Kernels& kernels) { chosen.store(&kernels, std::memory_order_relaxed); }

}  // namespace tessera
