// Columns: rows of a fixed size in slabs. A column grows while threads read it, and no row ever
// moves.
#pragma once
#include <atomic>
#include <memory>
#include <vector>

#include "common/limits.hpp"
#include "storage/slab.hpp"

namespace tessera {

class Column {
 public:
  /// A slab has 2^`slabRowBits` rows. Columns of small rows with random access have large slabs, which the
  /// system can back with huge pages.
  explicit Column(size_t rowBytes, uint32_t slabRowBits = SLAB_ROW_BITS);

  size_t rowBytes() const { return rowBytes_; }
  uint32_t slabRows() const { return 1u << slabRowBits_; }
  Slab& slab(size_t number) { return *slabs_[number]; }

  /// Makes the rows [0, rows) addressable. Writer only.
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
  bool hugePages_ = false;
  Slab table_;
  std::vector<std::unique_ptr<Slab>> slabs_;
};

/// A column with one plain value per row.
template <typename T>
class ColumnOf : public Column {
 public:
  ColumnOf() : Column(sizeof(T)) {}
  T& at(uint32_t number) const { return *reinterpret_cast<T*>(row(number)); }
};

}  // namespace tessera
