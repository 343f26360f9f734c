// The numbers of distinct texts.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

/// Numbers distinct texts in the order in which they first occur. The texts are in one string, so a new one needs no
/// memory of its own.
class TermTable {
 public:
  uint32_t size() const { return static_cast<uint32_t>(ends_.size()); }
  /// The number of a text, which becomes the next one if it is new.
  uint32_t number(std::u16string_view text);
  /// The text of a number, until another text is new.
  std::u16string_view text(uint32_t number) const;
  void clear();

 private:
  void grow();

  /// A number plus 1 by hash; 0 for an empty slot. The number of slots is a power of two, or 0.
  std::vector<uint32_t> slots_;
  std::vector<uint64_t> hashes_;
  std::vector<size_t> ends_;
  std::u16string units_;
};

}  // namespace tessera
