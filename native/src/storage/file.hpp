// Files that are written once, checked reads, and locks.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace tessera {

/// An open file.
class File {
 public:
  /// Only the descriptor that creates the file can write to it.
  static File create(const std::string& path);
  static File open(const std::string& path);
  static bool exists(const std::string& path, uint64_t size);
  File(File&& other) noexcept : fd_(other.fd_), path_(std::move(other.path_)) { other.fd_ = -1; }
  File(const File&) = delete;
  ~File();

  int fd() const { return fd_; }
  uint64_t size() const;
  void write(uint64_t offset, const void* data, size_t length);
  void read(uint64_t offset, void* data, size_t length) const;
  void sync();

 private:
  File(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  int fd_;
  std::string path_;
};

/// Makes the names of the files in a directory durable.
void syncDirectory(const std::string& directory);

/// Takes an exclusive lock on a file without waiting. Returns a handle, or -1 when it is held.
int lockFile(const std::string& path);
void unlockFile(int handle);

}  // namespace tessera
