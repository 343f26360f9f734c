// The texts of chunks as a reader sees them, divided into words.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/recently_used.hpp"
#include "text/page/word_units.hpp"

namespace tessera {

/// A text and its pieces, in order.
struct DividedText {
  struct Piece {
    /// In UTF-16 code units, half-open.
    uint32_t start;
    uint32_t end;
  };
  static constexpr uint16_t OTHER = 0xffff;
  static_assert(OTHER >= WordStart::COUNT);

  std::u16string text;
  /// The start of each ASCII piece; `OTHER` for other pieces. Most pieces are rejected by their start alone.
  std::vector<uint16_t> wordStarts;
  std::vector<Piece> pieces;
};

/// The permanent place of a chunk: the serial number of a shard, from 1 on, and a row of it. The serial
/// number is 0 for a chunk that was read for a request.
struct ChunkPlace {
  uint64_t shard = 0;
  uint64_t row = 0;

  bool operator==(const ChunkPlace&) const = default;
};

/// Reads the contents of chunks, and caches the most recently used. It belongs to one thread.
class ChunkTexts {
 public:
  /// The text of a chunk's content, which is Markdown in a JSON string. The reference is valid until the next call.
  const DividedText& of(std::string_view content, ChunkPlace place);

 private:
  struct PlaceHash {
    size_t operator()(const ChunkPlace& place) const { return place.shard << 32 ^ place.row; }
  };

  /// Cached chunks. A chunk that the service cuts has some kilobytes.
  static constexpr size_t KEPT = 2'048;
  static constexpr size_t KEPT_MAX_BYTES = size_t{8} << 10;

  DividedText divided(std::string_view content);

  /// The Markdown of the current chunk, and the units of its text.
  std::u16string markdown_;
  WordUnits units_;
  RecentlyUsed<ChunkPlace, DividedText, PlaceHash> kept_{KEPT};
  /// The last text that is too large for the cache.
  DividedText large_;
};

}  // namespace tessera
