// The scheduling priority of a thread.
#pragma once

namespace tessera {

/// Lowers the priority of the calling thread below that of all others. Linux only; does nothing
/// elsewhere.
void lowerThreadPriority();

}  // namespace tessera
