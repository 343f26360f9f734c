#include "common/checksum.hpp"

#define XXH_INLINE_ALL
#include <common/xxhash.h>

#include <cinttypes>
#include <cstdio>

namespace tessera {

std::string checksum(const void* data, size_t length) {
  char digits[2 * sizeof(uint64_t) + 1];
  std::snprintf(digits, sizeof digits, "%016" PRIx64, static_cast<uint64_t>(XXH64(data, length, 0)));
  return digits;
}

}  // namespace tessera
