// Writing and reading plain values as bytes. Every length that is read is checked.
#pragma once
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>

namespace tessera {

class ByteWriter {
 public:
  template <typename T>
  void put(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void putString(std::string_view text) {
    put(static_cast<uint64_t>(text.size()));
    bytes_ += text;
  }
  /// Overwrites the value at `position`.
  template <typename T>
  void replace(size_t position, T value) {
    std::memcpy(bytes_.data() + position, &value, sizeof value);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

  template <typename T>
  T get() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::string_view getString() { return take(get<uint64_t>()); }
  /// A count of things of at least `bytesEach` bytes each, which must fit into the rest.
  uint32_t getCount(size_t bytesEach) {
    const auto count = get<uint32_t>();
    if (uint64_t{count} * bytesEach > bytes_.size()) fail();
    return count;
  }
  std::string_view rest() const { return bytes_; }
  bool done() const { return bytes_.empty(); }

 private:
  [[noreturn]] static void fail() { throw std::runtime_error("the layout is truncated"); }

  std::string_view take(uint64_t length) {
    if (length > bytes_.size()) fail();
    const std::string_view taken = bytes_.substr(0, length);
    bytes_.remove_prefix(length);
    return taken;
  }

  std::string_view bytes_;
};

}  // namespace tessera
