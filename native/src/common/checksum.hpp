// A fast 64-bit checksum after xxHash64. Snapshots store it, so it must not change.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tessera {

uint64_t checksum(const void* data, size_t length, uint64_t seed = 0);

/// A seed of this process for tables in memory whose keys callers choose: who does not know it cannot make keys that
/// collide.
uint64_t secretSeed();

}  // namespace tessera
