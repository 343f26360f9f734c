#include "text/page/word_units.hpp"

#include <cstring>

#include "text/analysis/words.hpp"

namespace tessera {

/// The bits of 64 bytes that are 0 or 1.
static uint64_t bitsOf(const uint8_t* bytes) {
  // The product moves the lowest bits of eight bytes next to each other, into the highest byte.
  constexpr uint64_t GATHER = 0x0102040810204080;
  uint64_t bits = 0;
  for (size_t i = 0; i < 8; i++) {
    uint64_t eight;
    std::memcpy(&eight, bytes + 8 * i, sizeof eight);
    bits |= (eight * GATHER >> 56) << 8 * i;
  }
  return bits;
}

void WordUnits::read(std::u16string_view text) {
  words_.clear();
  others_.clear();
  allAscii_ = true;
  bool hasHebrew = false;
  // Written so that a compiler can use vectors.
  char16_t units[BLOCK];
  uint8_t areWords[BLOCK];
  for (size_t from = 0; from < text.size(); from += BLOCK) {
    const size_t count = std::min(BLOCK, text.size() - from);
    if (count < BLOCK) std::memset(units, 0, sizeof units);
    std::memcpy(units, text.data() + from, count * sizeof(char16_t));
    uint16_t seen = 0;
    for (size_t i = 0; i < BLOCK; i++) {
      const uint16_t unit = units[i];
      const auto letter = static_cast<uint16_t>((unit | 0x20) - u'a');
      const auto digit = static_cast<uint16_t>(unit - u'0');
      const auto other = static_cast<uint16_t>(unit >> 7);
      areWords[i] = static_cast<uint8_t>((letter < 26) | (digit < 10) | (other != 0));
      seen |= unit;
    }
    words_.push_back(bitsOf(areWords));
    others_.push_back(0);
    if (seen < 0x80) continue;
    allAscii_ = false;
    for (size_t i = 0; i < count; i++) {
      others_.back() |= uint64_t{units[i] >= 0x80} << i;
      if (isTypographic(units[i])) words_.back() &= ~(uint64_t{1} << i);
      hasHebrew = hasHebrew || isHebrew(units[i]);
    }
  }
  if (hasHebrew) joinAcronyms(text);
}

void WordUnits::joinAcronyms(std::u16string_view text) {
  for (size_t at = text.find(u'"'); at != std::u16string_view::npos; at = text.find(u'"', at + 1)) {
    if (isGershayim(text, at)) words_[at / BLOCK] |= uint64_t{1} << at % BLOCK;
  }
}

}  // namespace tessera
