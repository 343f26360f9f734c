// The JSON text of a chunk, as `src/index/versions/chunk-content.ts` writes it. A file version without chunks has one
// text of the same form, without an id.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace tessera {

/// Members of a chunk. Strings are JSON strings without their quotes.
struct ChunkText {
  std::string_view id;
  std::string_view path;
  std::string_view fileId;
  std::string_view versionId;
  std::string_view content;
  uint64_t index = 0;
  /// A JSON object.
  std::string_view metadata;

  /// Whether it stands for a file version without chunks.
  bool isFile() const { return id.empty(); }
};

/// Reads the members, which come first and in a fixed order. Returns false if the text has another form.
bool readChunkText(std::string_view json, ChunkText& chunk);

/// Replaces `out` with the value of a valid JSON string.
void decodeJsonString(std::string_view raw, std::u16string& out);
/// The same in UTF-8, where half of a surrogate pair becomes U+FFFD.
std::string jsonStringToUtf8(std::string_view raw);

}  // namespace tessera
