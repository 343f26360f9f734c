// Kernels for any processor.
#include "kernels_common.hpp"

namespace tessera {

const Kernels portableKernels{"portable", dotCommon, sumSelectedCommon, dotFineCommon, hammingCommon,
                              hadamardCommon};

}  // namespace tessera
