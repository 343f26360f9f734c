#include "text/segment/block_texts.hpp"

#include <zstd.h>

#include <new>
#include <stdexcept>

#include "common/utf8.hpp"

namespace tessera {

/// Upper bound of the text of a block, with a large margin.
static constexpr size_t BLOCK_MAX_BYTES = size_t{64} << 10;

BlockTexts::BlockTexts() : context_(ZSTD_createDCtx()), buffer_(BLOCK_MAX_BYTES, '\0') {
  if (context_ == nullptr) throw std::bad_alloc();
}

BlockTexts::~BlockTexts() { ZSTD_freeDCtx(context_); }

const std::u16string& BlockTexts::of(const TextSegment& segment, uint32_t block) {
  const auto bytes = segment.block(block);
  return kept_.get({bytes.data(), segment.identity}, [&] {
    std::u16string text;
    uncompress(bytes, text);
    return text;
  });
}

void BlockTexts::uncompress(std::span<const uint8_t> bytes, std::u16string& text) {
  const size_t length =
      ZSTD_decompressDCtx(context_, buffer_.data(), buffer_.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(length)) throw std::runtime_error("a text of a segment cannot be uncompressed");
  decodeUtf8({reinterpret_cast<const uint8_t*>(buffer_.data()), length}, text);
}

}  // namespace tessera
