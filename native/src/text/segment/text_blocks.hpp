// The text of a document in compressed blocks, for snippets.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

struct ZSTD_CCtx_s;

namespace tessera {

/// The piece of a text from a position on: at most `BLOCK_MAX_UNITS` long, up to a space or punctuation if possible, so
/// that words are not cut, and never up to the middle of a surrogate pair. Reading all pieces takes linear time.
std::u16string_view pieceAt(std::u16string_view text, size_t start);

/// Compresses blocks.
class BlockCompressor {
 public:
  BlockCompressor();
  ~BlockCompressor();
  BlockCompressor(const BlockCompressor&) = delete;
  BlockCompressor& operator=(const BlockCompressor&) = delete;

  /// The compressed plain text of a piece, in which one space takes the place of several. The memory is valid until
  /// the next call.
  std::span<const uint8_t> compress(std::u16string_view piece);

 private:
  ZSTD_CCtx_s* const context_;
  std::string text_;
  std::string compressed_;
};

}  // namespace tessera
