#include "arena.hpp"

#include <atomic>
#include <cstring>
#include <stdexcept>

namespace tessera {

static std::atomic<uint8_t*>& entry(const Slab& table, size_t number) {
  return reinterpret_cast<std::atomic<uint8_t*>*>(table.data())[number];
}

Arena::Arena() : table_(MAX_SLABS * sizeof(std::atomic<uint8_t*>)) {}

Slab& Arena::addSlab(size_t capacity, size_t used) {
  if (slabs_.size() >= MAX_SLABS) throw std::length_error("the index is full");
  slabs_.push_back(std::make_unique<Slab>(capacity));
  used_.push_back(used);
  entry(table_, slabs_.size() - 1).store(slabs_.back()->data(), std::memory_order_release);
  return *slabs_.back();
}

Place Arena::append(std::string_view text) {
  if (text.size() > MAX_TEXT_BYTES) throw std::length_error("a rendered chunk is too long");
  // A slab that was adopted from a file is read-only.
  const bool fits = !slabs_.empty() && !slabs_.back()->adopted() &&
                    slabs_.back()->capacity() - used_.back() >= text.size();
  if (!fits) addSlab(text.size() > TEXT_SLAB_BYTES ? text.size() : TEXT_SLAB_BYTES, 0);
  const Place place{static_cast<uint32_t>(slabs_.size() - 1), static_cast<uint32_t>(used_.back()),
                    static_cast<uint32_t>(text.size())};
  std::memcpy(slabs_.back()->data() + used_.back(), text.data(), text.size());
  used_.back() += text.size();
  return place;
}

std::string_view Arena::at(const Place& place) const {
  const uint8_t* base = entry(table_, place.slab).load(std::memory_order_acquire);
  return {reinterpret_cast<const char*>(base) + place.offset, place.length};
}

uint64_t Arena::bytes() const {
  uint64_t total = 0;
  for (const size_t used : used_) total += used;
  return total;
}

}  // namespace tessera
