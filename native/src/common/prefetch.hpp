// Prefetching memory into the processor's cache.
#pragma once
#include <cstddef>

namespace tessera {

inline void prefetch(const void* memory, size_t bytes) {
  // 64 bytes on x86-64 and most other processors; a wrong guess costs only time.
  static constexpr size_t CACHE_LINE = 64;
  const char* at = static_cast<const char*>(memory);
  for (size_t offset = 0; offset < bytes; offset += CACHE_LINE) __builtin_prefetch(at + offset);
}

}  // namespace tessera
