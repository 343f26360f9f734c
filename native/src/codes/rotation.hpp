// A fixed random rotation. It spreads a vector evenly over its elements, so that the sign of every
// element carries about as much information.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tessera {

/// Rotates in place. Each dimension has a rotation of its own, the same in every process and build:
/// stored codes depend on it.
void rotate(float* values, uint32_t dimension);

}  // namespace tessera
