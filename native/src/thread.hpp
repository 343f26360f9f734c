// The scheduling priority of a thread.
#pragma once

namespace tessera {

/// Lets the calling thread run behind all others (Linux); does nothing elsewhere.
void lowerThreadPriority();

}  // namespace tessera
