// Files: durable writes, checked reads, and locks.
#pragma once
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace tessera {

/// An open file.
class File {
 public:
  static constexpr mode_t READ_WRITE = 0600;
  /// For files that are written once: only the descriptor that creates the file can write to it.
  static constexpr mode_t READ_ONLY = 0400;

  static File create(const std::string& path, mode_t mode = READ_WRITE);
  static File open(const std::string& path);
  static bool exists(const std::string& path, uint64_t size);
  File(File&& other) noexcept : fd_(other.fd_), path_(std::move(other.path_)) { other.fd_ = -1; }
  File(const File&) = delete;
  ~File();

  int fd() const { return fd_; }
  uint64_t size() const;
  void write(const void* data, size_t length);
  void read(uint64_t offset, void* data, size_t length) const;
  void sync();

 private:
  File(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  int fd_;
  std::string path_;
};

/// Writes a temporary file, makes it durable and renames it to `path`.
void replaceFile(const std::string& path, std::string_view bytes);
void makeDirectory(const std::string& path);
/// Removes the files of a directory unless `keep` returns true for their name. Ignores errors.
template <typename Keep>
void removeFiles(const std::string& directory, Keep keep) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(directory, ignored)) {
    if (!keep(entry.path().filename().string())) std::filesystem::remove(entry.path(), ignored);
  }
}

/// Takes an exclusive lock on a file without waiting. Returns a handle, or -1 when it is held.
int lockFile(const std::string& path);
void unlockFile(int handle);

}  // namespace tessera
