#include "common/thread.hpp"

#ifdef __linux__
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace tessera {

void lowerThreadPriority() {
#ifdef __linux__
  // On Linux a thread id is a valid `who`, and niceness belongs to the thread. Failure is harmless.
  static constexpr int BACKGROUND_NICENESS = 10;
  setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), BACKGROUND_NICENESS);
#endif
}

}  // namespace tessera
