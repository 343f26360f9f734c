#include "text/segment/text_blocks.hpp"

#include <zstd.h>

#include <new>
#include <stdexcept>

#include "common/space.hpp"
#include "common/utf8.hpp"
#include "text/analysis/unicode.hpp"

namespace tessera {

/// The maximum length of a block in code units.
static constexpr size_t BLOCK_MAX_UNITS = 2'048;
/// Higher levels save less than 1%, and building takes 2% longer.
static constexpr int COMPRESSION_LEVEL = 1;

std::u16string_view pieceAt(std::u16string_view text, size_t start) {
  const std::u16string_view rest = text.substr(start);
  if (rest.size() <= BLOCK_MAX_UNITS) return rest;
  for (size_t length = BLOCK_MAX_UNITS; length > BLOCK_MAX_UNITS / 2; length--) {
    const char16_t last = rest[length - 1];
    if (isSpace(last) || isPunctuation(last)) return rest.substr(0, length);
  }
  const char16_t last = rest[BLOCK_MAX_UNITS - 1];
  const bool isFirstOfPair = last >= 0xd800 && last <= 0xdbff;
  return rest.substr(0, isFirstOfPair ? BLOCK_MAX_UNITS - 1 : BLOCK_MAX_UNITS);
}

BlockCompressor::BlockCompressor() : context_(ZSTD_createCCtx()) {
  if (context_ == nullptr) throw std::bad_alloc();
}

BlockCompressor::~BlockCompressor() { ZSTD_freeCCtx(context_); }

std::span<const uint8_t> BlockCompressor::compress(std::u16string_view piece) {
  std::u16string plain;
  plain.reserve(piece.size());
  for (const char16_t unit : piece) {
    if (!isSpace(unit)) {
      plain += unit;
    } else if (!plain.empty() && plain.back() != u' ') {
      plain += u' ';
    }
  }
  if (plain.ends_with(u' ')) plain.pop_back();
  text_.clear();
  appendUtf8(text_, plain);
  compressed_.resize(ZSTD_compressBound(text_.size()));
  const size_t length = ZSTD_compressCCtx(context_, compressed_.data(), compressed_.size(), text_.data(),
                                          text_.size(), COMPRESSION_LEVEL);
  if (ZSTD_isError(length)) throw std::runtime_error("a text cannot be compressed");
  return {reinterpret_cast<const uint8_t*>(compressed_.data()), length};
}

}  // namespace tessera
