#include "storage/column.hpp"

#include <stdexcept>

namespace tessera {

/// Rows from which a column is certain to fill huge pages.
static constexpr uint32_t HUGE_PAGES_FROM_ROWS = 2 * SLAB_ROWS;

Column::Column(size_t rowBytes, uint32_t slabRowBits)
    : rowBytes_(rowBytes),
      slabRowBits_(slabRowBits),
      table_(MAX_SLABS * sizeof(std::atomic<uint8_t*>)) {}

void Column::ensure(uint32_t rows) {
  if (rows > MAX_ROWS) throw std::length_error("the index is full");
  if (rows > HUGE_PAGES_FROM_ROWS && !hugePages_) {
    hugePages_ = true;
    for (const auto& slab : slabs_) slab->preferHugePages();
  }
  const size_t needed = (size_t{rows} + slabRows() - 1) / slabRows();
  while (slabs_.size() < needed) {
    slabs_.push_back(std::make_unique<Slab>(size_t{slabRows()} * rowBytes_));
    if (hugePages_) slabs_.back()->preferHugePages();
    table()[slabs_.size() - 1].store(slabs_.back()->data(), std::memory_order_release);
  }
}

}  // namespace tessera
