#include "text/segment/term_table.hpp"

#include <algorithm>

#include "common/keyed_hash.hpp"

namespace tessera {

static constexpr size_t FIRST_TERM_SLOTS = 64;

uint32_t TermTable::number(std::u16string_view text) {
  if (size_t{size()} * 2 >= slots_.size()) grow();
  const uint64_t hash = KeyedHash()(text);
  const size_t mask = slots_.size() - 1;
  size_t slot = hash & mask;
  for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
    const uint32_t known = slots_[slot] - 1;
    if (hashes_[known] == hash && this->text(known) == text) return known;
  }
  units_ += text;
  hashes_.push_back(hash);
  ends_.push_back(units_.size());
  slots_[slot] = size();
  return size() - 1;
}

std::u16string_view TermTable::text(uint32_t number) const {
  const size_t start = number == 0 ? 0 : ends_[number - 1];
  return std::u16string_view(units_).substr(start, ends_[number] - start);
}

void TermTable::clear() {
  // A table that had many texts does not fill its slots again and again for a few.
  slots_.clear();
  hashes_.clear();
  ends_.clear();
  units_.clear();
}

void TermTable::grow() {
  slots_.assign(std::max(FIRST_TERM_SLOTS, slots_.size() * 2), 0);
  const size_t mask = slots_.size() - 1;
  for (uint32_t known = 0; known < size(); known++) {
    size_t slot = hashes_[known] & mask;
    while (slots_[slot] != 0) slot = (slot + 1) & mask;
    slots_[slot] = known + 1;
  }
}

}  // namespace tessera
