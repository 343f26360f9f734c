// A fast 64-bit checksum after xxHash64. Snapshots store it, so it must not change. Whoever wants to can make bytes
// that collide, so tables take a keyed hash.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tessera {

uint64_t checksum(const void* data, size_t length);

}  // namespace tessera
