#include "graph/link_table.hpp"

#include <algorithm>
#include <cstring>

namespace tessera {

LinkTable::LinkTable(std::span<const int16_t> levels)
    : size_(static_cast<uint32_t>(levels.size())),
      base_(std::make_unique<Slab>(std::max<size_t>(size_, 1) * M0 * sizeof(uint32_t))) {
  static_assert(NONE == 0xffffffffu, "memory is filled by bytes");
  base_->preferHugePages();
  std::memset(base_->data(), 0xff, size_t{size_} * M0 * sizeof(uint32_t));
  for (uint32_t node = 0; node < size_; node++) {
    if (levels[node] > 0) rankedNodes_.push_back(node);
  }
  std::stable_sort(rankedNodes_.begin(), rankedNodes_.end(),
                   [&](uint32_t a, uint32_t b) { return levels[a] > levels[b]; });
  size_t count = rankedNodes_.size();
  for (int16_t level = 1; count > 0; level++) {
    upper_.emplace_back(count * M, NONE);
    while (count > 0 && levels[rankedNodes_[count - 1]] <= level) count--;
  }
}

uint64_t LinkTable::bytes() const {
  uint64_t entries = uint64_t{size_} * M0 + rankedNodes_.size();
  for (const auto& level : upper_) entries += level.size();
  return entries * sizeof(uint32_t);
}

}  // namespace tessera
