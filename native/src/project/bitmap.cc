#include "project/bitmap.hpp"

#include "common/keyed_hash.hpp"

namespace tessera {

void BitmapBuilder::add(uint32_t row) {
  const uint32_t number = row >> SLAB_ROW_BITS;
  if (number >= pages_.size()) pages_.resize(number + 1, Page{});
  pages_[number][(row & (SLAB_ROWS - 1)) >> 6] |= uint64_t{1} << (row & 63);
}

void BitmapBuilder::addRange(uint32_t start, uint32_t count) {
  for (uint32_t offset = 0; offset < count; offset++) add(start + offset);
}

uint32_t BitmapBuilder::end() const {
  for (size_t number = pages_.size(); number-- > 0;) {
    for (uint32_t word = PAGE_WORDS; word-- > 0;) {
      const uint64_t bits = pages_[number][word];
      if (bits == 0) continue;
      return static_cast<uint32_t>(number << SLAB_ROW_BITS) + word * 64 + 64 -
             static_cast<uint32_t>(std::countl_zero(bits));
    }
  }
  return 0;
}

Bitmap PagePool::freeze(BitmapBuilder& builder) {
  Bitmap bitmap;
  std::lock_guard lock(mutex_);
  for (const Page& page : builder.pages()) {
    uint32_t members = 0;
    for (const uint64_t word : page) members += static_cast<uint32_t>(std::popcount(word));
    bitmap.count_ += members;
    bitmap.pages_.push_back(members == 0 ? nullptr : intern(page));
    bitmap.words_.push_back(members == 0 ? nullptr : bitmap.pages_.back()->data());
  }
  return bitmap;
}

std::shared_ptr<const Page> PagePool::intern(const Page& page) {
  const uint64_t hash = keyedHash(page.data(), sizeof(Page));
  const auto [first, last] = pages_.equal_range(hash);
  for (auto entry = first; entry != last; ++entry) {
    std::shared_ptr<const Page> known = entry->second.lock();
    if (known && *known == page) return known;
  }
  if (pages_.size() >= sweepAt_) sweep();
  auto fresh = std::make_shared<const Page>(page);
  pages_.emplace(hash, fresh);
  return fresh;
}

void PagePool::sweep() {
  for (auto entry = pages_.begin(); entry != pages_.end();) {
    entry = entry->second.expired() ? pages_.erase(entry) : std::next(entry);
  }
  sweepAt_ = pages_.size() * 2 + 1024;
}

uint64_t PagePool::bytes() {
  std::lock_guard lock(mutex_);
  sweep();
  return pages_.size() * sizeof(Page);
}

}  // namespace tessera
