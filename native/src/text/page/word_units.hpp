// Which code units of a text are in words, as bits.
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace tessera {

/// Divides a text into its pieces: runs of units that are not separators. All units outside ASCII except
/// typographic ones belong to a piece. Most pieces are skipped, so 64 units are examined together.
class WordUnits {
 public:
  void read(std::u16string_view text);

  /// Calls `visit(start, end, isAscii)` for each piece of the text that was read, in order. Skips ASCII pieces
  /// unless `wants` returns true for their first unit.
  template <typename Wants, typename Visit>
  void each(std::u16string_view text, const Wants& wants, const Visit& visit) const {
    uint64_t before = 0;
    for (size_t b = 0; b < words_.size(); b++) {
      const uint64_t bits = words_[b];
      uint64_t starts = bits & ~(bits << 1 | before);
      before = bits >> (BLOCK - 1);
      for (; starts != 0; starts &= starts - 1) {
        const size_t at = b * BLOCK + static_cast<size_t>(std::countr_zero(starts));
        const bool isWanted = wants(text[at]);
        if (allAscii_ && !isWanted) continue;
        const size_t end = endOf(at);
        const bool isAscii = allAscii_ || lacksOthers(at, end);
        if (isWanted || !isAscii) visit(at, end, isAscii);
      }
    }
  }

 private:
  static constexpr size_t BLOCK = 64;

  /// The end of the piece that contains a unit.
  size_t endOf(size_t at) const {
    size_t b = at / BLOCK;
    uint64_t gaps = ~words_[b] >> at % BLOCK << at % BLOCK;
    while (gaps == 0 && ++b < words_.size()) gaps = ~words_[b];
    return b * BLOCK + (gaps == 0 ? 0 : static_cast<size_t>(std::countr_zero(gaps)));
  }

  /// Whether a piece consists of ASCII.
  bool lacksOthers(size_t start, size_t end) const {
    const size_t last = (end - 1) / BLOCK;
    for (size_t b = start / BLOCK; b <= last; b++) {
      uint64_t others = others_[b];
      if (b == start / BLOCK) others = others >> start % BLOCK << start % BLOCK;
      if (b == last) others <<= BLOCK - 1 - (end - 1) % BLOCK;
      if (others != 0) return false;
    }
    return true;
  }

  void joinAcronyms(std::u16string_view text);

  /// A bit per unit that is in a piece, and per unit that is not ASCII.
  std::vector<uint64_t> words_;
  std::vector<uint64_t> others_;
  bool allAscii_ = true;
};

/// The start of a word: the lowest bits of its first units, which distinguish letters but not their case.
struct WordStart {
  static constexpr size_t UNIT_BITS = 5;
  static constexpr size_t UNITS = 3;
  static constexpr size_t COUNT = size_t{1} << (UNIT_BITS * UNITS);

  static size_t ofUnit(char16_t unit) { return unit & ((size_t{1} << UNIT_BITS) - 1); }
  static size_t of(std::u16string_view word) {
    const size_t known = std::min(word.size(), UNITS);
    size_t start = 0;
    for (size_t i = 0; i < known; i++) start = start << UNIT_BITS | ofUnit(word[i]);
    return start << UNIT_BITS * (UNITS - known);
  }
};

}  // namespace tessera
