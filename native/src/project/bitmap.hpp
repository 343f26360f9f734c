// Bitmaps over rows. They consist of immutable pages; equal pages are stored once.
#pragma once
#include <array>
#include <bit>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "common/limits.hpp"

namespace tessera {

inline constexpr uint32_t PAGE_WORDS = SLAB_ROWS / 64;
using Page = std::array<uint64_t, PAGE_WORDS>;

/// Calls `visit(row)` for each member of a page, whose first row is `base`, from row `from`, ascending.
template <typename Visit>
void forEachOfPage(const uint64_t* words, uint32_t base, uint32_t from, Visit visit) {
  const uint32_t skipped = from > base ? from - base : 0;
  for (uint32_t word = skipped / 64; word < PAGE_WORDS; word++) {
    uint64_t bits = words[word];
    if (word == skipped / 64) bits &= ~uint64_t{0} << (skipped & 63);
    for (; bits != 0; bits &= bits - 1) {
      visit(base + word * 64 + static_cast<uint32_t>(std::countr_zero(bits)));
    }
  }
}

class Bitmap {
 public:
  bool has(uint32_t row) const {
    const uint32_t number = row >> SLAB_ROW_BITS;
    if (number >= words_.size() || words_[number] == nullptr) return false;
    return (words_[number][(row & (SLAB_ROWS - 1)) >> 6] >> (row & 63)) & 1;
  }
  uint32_t count() const { return count_; }
  size_t pageCount() const { return words_.size(); }
  const std::vector<std::shared_ptr<const Page>>& pages() const { return pages_; }

  /// Calls `visit(row)` for each member from row `from`, ascending.
  template <typename Visit>
  void forEach(uint32_t from, Visit visit) const {
    for (size_t number = from >> SLAB_ROW_BITS; number < words_.size(); number++) {
      if (words_[number] == nullptr) continue;
      forEachOfPage(words_[number], static_cast<uint32_t>(number << SLAB_ROW_BITS), from, visit);
    }
  }

 private:
  friend class PagePool;
  std::vector<const uint64_t*> words_;
  std::vector<std::shared_ptr<const Page>> pages_;
  uint32_t count_ = 0;
};

/// Collects the members of a bitmap.
class BitmapBuilder {
 public:
  void add(uint32_t row);
  void addRange(uint32_t start, uint32_t count);
  std::vector<Page>& pages() { return pages_; }
  /// Calls `visit(row)` for each member, ascending.
  template <typename Visit>
  void forEach(Visit visit) const {
    for (size_t number = 0; number < pages_.size(); number++) {
      forEachOfPage(pages_[number].data(), static_cast<uint32_t>(number << SLAB_ROW_BITS), 0, visit);
    }
  }
  /// One more than the last member; 0 without members.
  uint32_t end() const;

 private:
  std::vector<Page> pages_;
};

/// Keeps one copy of each distinct page: releases that share most of their chunks share most of
/// their pages.
class PagePool {
 public:
  Bitmap freeze(BitmapBuilder& builder);
  /// Bytes of the distinct pages in use.
  uint64_t bytes();

 private:
  std::shared_ptr<const Page> intern(const Page& page);
  void sweep();

  std::mutex mutex_;
  std::unordered_multimap<uint64_t, std::weak_ptr<const Page>> pages_;
  size_t sweepAt_ = 1024;
};

}  // namespace tessera
