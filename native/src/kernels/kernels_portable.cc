// Kernels for any processor.
#include "kernels/kernels_common.hpp"

namespace tessera {

const Kernels portableKernels{"portable",      dotCommon,       dot1BitCommon,
                              dot3BitCommon,   dotLevelsCommon, hadamardCommon,
                              roundToBytesCommon, parseNoFractions};

}  // namespace tessera
