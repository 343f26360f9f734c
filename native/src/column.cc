#include "column.hpp"

#include <stdexcept>

namespace tessera {

Column::Column(size_t rowBytes)
    : rowBytes_(rowBytes), table_(MAX_SLABS * sizeof(std::atomic<uint8_t*>)) {}

void Column::ensure(uint32_t rows) {
  if (rows > MAX_ROWS) throw std::length_error("the index is full");
  const size_t needed = (size_t{rows} + SLAB_ROWS - 1) / SLAB_ROWS;
  while (slabs_.size() < needed) {
    // The first slab of a small index stays small; once there is a second one, they fill up.
    const bool large = !slabs_.empty();
    slabs_.push_back(std::make_unique<Slab>(size_t{SLAB_ROWS} * rowBytes_, large));
    table()[slabs_.size() - 1].store(slabs_.back()->data(), std::memory_order_release);
  }
}

}  // namespace tessera
