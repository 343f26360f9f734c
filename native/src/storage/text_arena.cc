#include "storage/text_arena.hpp"

#include <atomic>
#include <cstring>
#include <stdexcept>

namespace tessera {

static std::atomic<uint8_t*>& entry(const Slab& table, size_t number) {
  return reinterpret_cast<std::atomic<uint8_t*>*>(table.data())[number];
}

TextArena::TextArena() : table_(MAX_SLABS * sizeof(std::atomic<uint8_t*>)) {}

Slab& TextArena::addSlab(size_t capacity, size_t used) {
  if (slabs_.size() >= MAX_SLABS) throw std::length_error("the index is full");
  slabs_.push_back(std::make_unique<Slab>(capacity));
  used_.push_back(used);
  entry(table_, slabs_.size() - 1).store(slabs_.back()->data(), std::memory_order_release);
  return *slabs_.back();
}

TextLocation TextArena::append(std::string_view text) {
  if (text.size() > MAX_TEXT_BYTES) throw std::length_error("a rendered chunk is too long");
  // A slab that is mapped from a file is read-only.
  const bool fits = !slabs_.empty() && !slabs_.back()->mapped() &&
                    slabs_.back()->capacity() - used_.back() >= text.size();
  if (!fits) addSlab(text.size() > TEXT_SLAB_BYTES ? text.size() : TEXT_SLAB_BYTES, 0);
  const TextLocation location{static_cast<uint32_t>(slabs_.size() - 1),
                              static_cast<uint32_t>(used_.back()),
                              static_cast<uint32_t>(text.size())};
  std::memcpy(slabs_.back()->data() + used_.back(), text.data(), text.size());
  used_.back() += text.size();
  return location;
}

std::string_view TextArena::at(const TextLocation& location) const {
  const uint8_t* base = entry(table_, location.slab).load(std::memory_order_acquire);
  return {reinterpret_cast<const char*>(base) + location.offset, location.length};
}

uint64_t TextArena::bytes() const {
  uint64_t total = 0;
  for (const size_t used : used_) total += used;
  return total;
}

}  // namespace tessera
