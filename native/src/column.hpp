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
  /// `slabRowBits` gives the rows of a slab as a power of two. Columns of small rows that searches jump
  /// about in have large slabs, which the system can back with huge pages.
  explicit Column(size_t rowBytes, uint32_t slabRowBits = SLAB_ROW_BITS);

  size_t rowBytes() const { return rowBytes_; }
  uint32_t slabRows() const { return 1u << slabRowBits_; }
  size_t slabCount() const { return slabs_.size(); }
  Slab& slab(size_t number) { return *slabs_[number]; }

  /// Makes rows [0, rows) addressable. Only the writer calls it.
  void ensure(uint32_t rows);

  uint8_t* row(uint32_t number) const {
    uint8_t* base = table()[number >> slabRowBits_].load(std::memory_order_acquire);
    return base + size_t{number & (slabRows() - 1)} * rowBytes_;
  }

 private:
  std::atomic<uint8_t*>* table() const {
    return reinterpret_cast<std::atomic<uint8_t*>*>(table_.data());
  }

  size_t rowBytes_;
  uint32_t slabRowBits_;
  bool large_ = false;
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
