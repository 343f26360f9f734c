// A slab: page-aligned memory of fixed capacity that never moves while it lives.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace tessera {

/// The file that already holds the final bytes of a slab.
struct SlabFile {
  std::string directory;
  std::string name;
  uint64_t length = 0;
  uint64_t checksum = 0;
};

class Slab {
 public:
  /// Reserves zeroed memory; pages cost nothing until they are touched.
  explicit Slab(size_t capacity);
  ~Slab();
  Slab(const Slab&) = delete;
  Slab& operator=(const Slab&) = delete;

  uint8_t* data() const { return data_; }
  size_t capacity() const { return capacity_; }

  /// Asks for huge pages, for memory that is sure to fill up and is read here and there.
  void preferLargePages();

  /// Replaces the memory with a read-only mapping of a file that holds the same bytes. The address
  /// stays, so concurrent readers notice nothing, and the file may be unlinked afterwards. It must
  /// not be cut short while it is mapped: reading beyond its end kills the process (SIGBUS), and a
  /// handler could only guess at the bytes. Files that are mapped are therefore created read-only,
  /// in a directory that is locked by its owner, and are replaced by new ones, never written again.
  void adopt(int fd, size_t length);
  bool adopted() const { return adopted_; }

  /// Set and read by whoever writes a snapshot, one at a time.
  SlabFile file;

 private:
  uint8_t* data_;
  size_t capacity_;
  std::atomic<bool> adopted_ = false;
};

}  // namespace tessera
