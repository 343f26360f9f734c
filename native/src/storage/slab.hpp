// Slabs: page-aligned memory of fixed capacity that never moves.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace tessera {

/// A file of a snapshot, as the manifest names it.
struct SnapshotFile {
  std::string directory;
  std::string name;
  uint64_t length = 0;
  std::string checksum;

  std::string path() const { return directory + "/" + name; }
};

class Slab {
 public:
  /// Reserves zeroed memory. Pages take no memory until they are touched.
  explicit Slab(size_t capacity);
  ~Slab();
  Slab(const Slab&) = delete;
  Slab& operator=(const Slab&) = delete;

  /// Bytes that all slabs of the process have reserved.
  static uint64_t reservedBytes();

  uint8_t* data() const { return data_; }
  size_t capacity() const { return capacity_; }

  /// Advises huge pages, for memory that will fill up and is read at random.
  void preferHugePages();

  /// Replaces the memory with a read-only mapping of a file that holds the same bytes. The address
  /// stays the same, so concurrent readers are not affected, and the file may be unlinked
  /// afterwards. It must not be truncated while it is mapped: a read beyond its end kills the
  /// process (SIGBUS). Mapped files are therefore created read-only, in a directory that their
  /// process has locked, and are replaced by new files instead of being written again.
  void mapFile(int fd, size_t length);
  bool mapped() const { return mapped_; }

  /// The file with these bytes. Only for the thread that writes a snapshot, of which there is one at a time.
  SnapshotFile file;

 private:
  uint8_t* data_;
  size_t capacity_;
  std::atomic<bool> mapped_ = false;
};

}  // namespace tessera
