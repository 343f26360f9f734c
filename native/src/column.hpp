// A column: fixed-size rows in slabs. It grows at the end while readers read, and no row moves.
#pragma once
#include <atomic>
#include <memory>
#include <vector>

#include "limits.hpp"
#include "slab.hpp"

namespace tessera {

class Column {
 public:
  explicit Column(size_t rowBytes);

  size_t rowBytes() const { return rowBytes_; }
  size_t slabCount() const { return slabs_.size(); }
  Slab& slab(size_t number) { return *slabs_[number]; }

  /// Makes rows [0, rows) addressable. Only the writer calls it.
  void ensure(uint32_t rows);

  uint8_t* row(uint32_t number) const {
    uint8_t* base = table()[number >> SLAB_ROW_BITS].load(std::memory_order_acquire);
    return base + size_t{number & (SLAB_ROWS - 1)} * rowBytes_;
  }

 private:
  std::atomic<uint8_t*>* table() const {
    return reinterpret_cast<std::atomic<uint8_t*>*>(table_.data());
  }

  size_t rowBytes_;
  Slab table_;
  std::vector<std::unique_ptr<Slab>> slabs_;
};

/// A column of one plain value a row.
template <typename T>
class ColumnOf : public Column {
 public:
  ColumnOf() : Column(sizeof(T)) {}
  T& at(uint32_t number) const { return *reinterpret_cast<T*>(row(number)); }
};

}  // namespace tessera
