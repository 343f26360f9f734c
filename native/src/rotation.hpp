// A fixed random rotation. It spreads any vector evenly over all of its elements, which is what makes
// the sign of each element worth about as much as the sign of any other.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tessera {

/// Rotates in place. Each dimension has its own rotation, the same in every process.
void rotate(float* values, uint32_t dimension);

}  // namespace tessera
