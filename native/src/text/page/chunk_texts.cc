#include "text/page/chunk_texts.hpp"

#include "common/checksum.hpp"
#include "common/chunk_text.hpp"

namespace tessera {

static DividedText divided(std::string_view content) {
  DividedText divided;
  decodeJsonString(content, divided.text);
  divided.units.read(divided.text);
  return divided;
}

const DividedText& ChunkTexts::of(std::string_view content) {
  if (content.size() > KEPT_MAX_BYTES) return large_ = divided(content);
  const Key key{checksum(content.data(), content.size()), content.size()};
  return kept_.get(key, [&] { return divided(content); });
}

}  // namespace tessera
