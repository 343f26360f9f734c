// A fast 64-bit checksum after xxHash64. Snapshots store it, so it must not change. Tables use a keyed hash instead,
// because callers can construct bytes whose checksums collide.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tessera {

uint64_t checksum(const void* data, size_t length);

}  // namespace tessera
