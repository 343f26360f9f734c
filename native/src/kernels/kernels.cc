#include "kernels/kernels.hpp"

#include <atomic>

namespace tessera {

size_t supportedKernels(const Kernels* out[MAX_KERNELS]) {
  size_t count = 0;
  out[count++] = &portableKernels;
#if defined(__x86_64__)
  // native/build.ts defines these conditions from the same list of extensions that it compiles the
  // files with, so no extension can be forgotten here.
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
  return usable[supportedKernels(usable) - 1];
}

static std::atomic<const Kernels*> chosen{fastest()};

const Kernels& kernels() { return *chosen.load(std::memory_order_relaxed); }

void selectKernels(const Kernels& kernels) { chosen.store(&kernels, std::memory_order_relaxed); }

}  // namespace tessera
