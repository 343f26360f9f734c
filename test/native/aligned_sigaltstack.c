// Preloaded with AddressSanitizer, which requires an aligned alternate signal stack. That of the
// runtime is not aligned, so this reports the aligned part of it.
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

int sigaltstack(const stack_t* fresh, stack_t* old) {
  const int result = (int)syscall(SYS_sigaltstack, fresh, old);
  if (result == 0 && fresh == NULL && old != NULL) {
    const uintptr_t first = ((uintptr_t)old->ss_sp + 7) & ~(uintptr_t)7;
    const uintptr_t last = ((uintptr_t)old->ss_sp + old->ss_size) & ~(uintptr_t)7;
    old->ss_sp = (void*)first;
    old->ss_size = last - first;
  }
  return result;
}
