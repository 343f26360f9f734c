// The priority of work in the background.
#pragma once
#ifdef __linux__
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace tessera {

/// The niceness of a thread. Only Linux has it per thread.
enum class Priority {
  NORMAL = 0,
  /// For building: a quarter of a core that is otherwise busy. With a lower share, the graph of a busy service
  /// would never be complete, and its searches would scan for longer.
  BUILD = 5,
  /// For measurements, which may wait.
  LOWEST = 19,
};

/// Sets the priority of the calling thread.
inline void setPriority(Priority priority) {
#ifdef __linux__
  // On Linux a thread id is a valid `who`, and niceness belongs to the thread. Failure is harmless.
  const auto thread = static_cast<id_t>(syscall(SYS_gettid));
  if (priority != Priority::NORMAL) setpriority(PRIO_PROCESS, thread, static_cast<int>(priority));
#else
  static_cast<void>(priority);
#endif
}

}  // namespace tessera
