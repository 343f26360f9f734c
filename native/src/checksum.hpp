// A fast 64-bit checksum (the xxHash64 construction): any flipped bit changes it.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tessera {

uint64_t checksum(const void* data, size_t length, uint64_t seed = 0);

}  // namespace tessera
