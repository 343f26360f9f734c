#include "text/page/chunk_texts.hpp"

#include "common/chunk_text.hpp"
#include "common/keyed_hash.hpp"
#include "text/page/plain_text.hpp"

namespace tessera {

DividedText ChunkTexts::divided(std::string_view content) {
  DividedText divided;
  decodeJsonString(content, markdown_);
  plainTextOf(markdown_, divided.text);
  divided.text.shrink_to_fit();
  const std::u16string_view text = divided.text;
  const auto any = [](char16_t) { return true; };
  units_.read(text);
  units_.each(text, any, [&](size_t start, size_t end, bool isAscii) {
    const size_t wordStart = isAscii ? WordStart::of(text.substr(start, end - start)) : DividedText::OTHER;
    divided.pieces.push_back({static_cast<uint32_t>(start), static_cast<uint32_t>(end)});
    divided.wordStarts.push_back(static_cast<uint16_t>(wordStart));
  });
  divided.pieces.shrink_to_fit();
  divided.wordStarts.shrink_to_fit();
  return divided;
}

const DividedText& ChunkTexts::of(std::string_view content, ChunkPlace place) {
  if (content.size() > KEPT_MAX_BYTES) return large_ = divided(content);
  // A chunk that was read for a request has no place, so the hash of its content is its key.
  if (place.shard == 0) place.row = keyedHash(content.data(), content.size());
  return kept_.get(place, [&] { return divided(content); });
}

}  // namespace tessera
