// Prefetching memory into the processor's cache.
#pragma once
#include <cstddef>

namespace tessera {

/// 64 bytes on x86-64 and most other processors; a wrong guess costs only time.
inline constexpr size_t CACHE_LINE = 64;

inline void prefetch(const void* memory, size_t bytes) {
  const char* at = static_cast<const char*>(memory);
  for (size_t offset = 0; offset < bytes; offset += CACHE_LINE) __builtin_prefetch(at + offset);
}

/// The same for memory that is read once, and should not displace what is read often.
inline void prefetchOnce(const void* memory, size_t bytes) {
  const char* at = static_cast<const char*>(memory);
  for (size_t offset = 0; offset < bytes; offset += CACHE_LINE) __builtin_prefetch(at + offset, 0, 0);
}

}  // namespace tessera
