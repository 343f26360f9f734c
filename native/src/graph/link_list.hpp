// The links of a node on level 0, to be changed while a graph is not published yet.
#pragma once
#include <cstdint>
#include <cstring>

namespace tessera {

/// A list in the memory of USearch, which has no function to change single links. A node is its key,
/// its level, the number of its links, and the links; `serialized` files have the same form.
class LinkList {
 public:
  /// `node` is the address of the node's key.
  explicit LinkList(char* node) : list_(node + sizeof(uint32_t) + sizeof(int16_t)) {}

  uint32_t size() const { return read(0); }
  uint32_t operator[](uint32_t i) const { return read(1 + i); }
  void set(uint32_t i, uint32_t slot) { write(1 + i, slot); }
  /// The caller knows that there is room.
  void add(uint32_t slot) {
    write(1 + size(), slot);
    write(0, size() + 1);
  }
  bool contains(uint32_t slot) const {
    for (uint32_t i = 0; i < size(); i++) {
      if ((*this)[i] == slot) return true;
    }
    return false;
  }

 private:
  /// Nodes are not aligned.
  uint32_t read(size_t word) const {
    uint32_t value;
    std::memcpy(&value, list_ + word * sizeof value, sizeof value);
    return value;
  }
  void write(size_t word, uint32_t value) {
    std::memcpy(list_ + word * sizeof value, &value, sizeof value);
  }

  char* list_;
};

}  // namespace tessera
