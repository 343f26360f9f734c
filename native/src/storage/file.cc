#include "storage/file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <set>
#include <mutex>
#include <stdexcept>
#include <system_error>

namespace tessera {

[[noreturn]] static void failed(const std::string& message) {
  throw std::system_error(errno, std::generic_category(), message);
}

static constexpr mode_t READ_ONLY = 0400;

File File::create(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, READ_ONLY);
  if (fd < 0) failed("cannot create " + path);
  return {fd, path};
}

File File::open(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) failed("cannot open " + path);
  return {fd, path};
}

bool File::exists(const std::string& path, uint64_t size) {
  struct stat status;
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         static_cast<uint64_t>(status.st_size) == size;
}

File::~File() {
  if (fd_ >= 0) ::close(fd_);
}

uint64_t File::size() const {
  struct stat status;
  if (::fstat(fd_, &status) != 0) failed("cannot read " + path_);
  return static_cast<uint64_t>(status.st_size);
}

void File::write(uint64_t offset, const void* data, size_t length) {
  const char* at = static_cast<const char*>(data);
  while (length > 0) {
    const ssize_t written = ::pwrite(fd_, at, length, static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) failed("cannot write " + path_);
    at += written;
    offset += static_cast<uint64_t>(written);
    length -= static_cast<size_t>(written);
  }
}

void File::read(uint64_t offset, void* data, size_t length) const {
  char* at = static_cast<char*>(data);
  while (length > 0) {
    const ssize_t got = ::pread(fd_, at, length, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) failed("cannot read " + path_);
    if (got == 0) throw std::runtime_error(path_ + " is truncated");
    at += got;
    offset += static_cast<uint64_t>(got);
    length -= static_cast<size_t>(got);
  }
}

void File::sync() {
  if (::fsync(fd_) != 0) failed("cannot make durable " + path_);
}

void syncDirectory(const std::string& directory) {
  const int fd = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) failed("cannot open " + directory);
  const int result = ::fsync(fd);
  ::close(fd);
  if (result != 0) failed("cannot make durable " + directory);
}

// Handles of locks that are held: a wrong number must not close an unrelated descriptor.
static std::mutex handlesMutex;
static std::set<int>& handles() {
  static auto* set = new std::set<int>();
  return *set;
}

int lockFile(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) failed("cannot open " + path);
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    const int reason = errno;
    ::close(fd);
    errno = reason;
    if (reason == EWOULDBLOCK) return -1;
    failed("cannot lock " + path);
  }
  std::lock_guard lock(handlesMutex);
  handles().insert(fd);
  return fd;
}

void unlockFile(int handle) {
  std::lock_guard lock(handlesMutex);
  if (handles().erase(handle) == 0) throw std::invalid_argument("the handle does not hold a lock");
  ::close(handle);
}

}  // namespace tessera
