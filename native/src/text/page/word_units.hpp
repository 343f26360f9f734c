// Which code units of a text are in words, as bits.
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace tessera {

/// Divides a text into its pieces: runs of units that are no separators. All units that are not ASCII belong to a
/// piece, but typographic ones. Most of a text is of no interest, so 64 units are looked at together.
class WordUnits {
 public:
  /// @param text stays in place while its pieces are visited
  void read(std::u16string_view text);

  /// Calls `visit(start, end)` for each piece, in order.
  template <typename Visit>
  void each(const Visit& visit) const {
    constexpr size_t NONE = ~size_t{0};
    size_t open = NONE;
    for (size_t b = 0; b < words_.size(); b++) {
      uint64_t bits = words_[b];
      // Each bit is a unit at which a piece starts or, if one is open, ends.
      uint64_t changes = bits ^ (bits << 1 | (open != NONE ? 1 : 0));
      for (; changes != 0; changes &= changes - 1) {
        const size_t at = b * BLOCK + static_cast<size_t>(std::countr_zero(changes));
        if (open == NONE) {
          open = at;
        } else {
          visit(open, at);
          open = NONE;
        }
      }
    }
    if (open != NONE) visit(open, text_.size());
  }

  /// Whether a piece consists of ASCII.
  bool isAscii(size_t start, size_t end) const {
    return allAscii_ || std::ranges::all_of(text_.substr(start, end - start),
                                            [](char16_t unit) { return unit < 0x80; });
  }

 private:
  static constexpr size_t BLOCK = 64;

  void joinAcronyms();

  std::u16string_view text_;
  /// A bit per unit that is in a piece.
  std::vector<uint64_t> words_;
  bool allAscii_ = true;
};

}  // namespace tessera
