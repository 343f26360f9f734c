// The checksum of the parts of a snapshot, of which manifests store it. Tables use a keyed hash instead, because callers
// can construct bytes whose checksums collide.
#pragma once
#include <cstddef>
#include <string>

namespace tessera {

/// XXH64 in hexadecimal digits.
std::string checksum(const void* data, size_t length);

}  // namespace tessera
