#include "storage/slab.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <system_error>

#ifndef MAP_NORESERVE
#define MAP_NORESERVE 0
#endif

namespace tessera {

static std::atomic<uint64_t> reserved{0};

uint64_t Slab::reservedBytes() { return reserved; }

static size_t wholePages(size_t bytes) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

Slab::Slab(size_t capacity) : capacity_(capacity) {
  void* memory = mmap(nullptr, wholePages(capacity), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  data_ = static_cast<uint8_t*>(memory);
  reserved += capacity_;
}

void Slab::preferHugePages() {
#ifdef MADV_HUGEPAGE
  // Only advice: a system without huge pages uses small ones.
  if (!mapped_) madvise(data_, wholePages(capacity_), MADV_HUGEPAGE);
#endif
}

Slab::~Slab() {
  munmap(data_, wholePages(capacity_));
  reserved -= capacity_;
}

void Slab::mapFile(int fd, size_t length) {
  if (length == 0 || length > capacity_) throw std::system_error(EINVAL, std::generic_category());
  void* memory = mmap(data_, wholePages(length), PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0);
  if (memory == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
  mapped_ = true;
}

}  // namespace tessera
