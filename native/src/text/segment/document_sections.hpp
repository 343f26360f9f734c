// The sections of a segment that hold its documents one after another.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/segment/text_segment.hpp"

namespace tessera {

/// The strings of a document in UTF-8.
struct DocumentStrings {
  std::string_view path;
  std::string_view versionId;
  std::string_view title;
  /// A JSON list of {key, value}.
  std::string_view frontmatter;
};

/// Collects documents in the order of their paths.
class DocumentSections {
 public:
  /// Prepares the memory for this many tokens, and bytes of blocks.
  void reserve(size_t tokens, size_t bytes);
  /// Begins a document, whose tokens and blocks follow.
  void begin(const DocumentStrings& strings, uint8_t language);
  void addToken(int32_t token) { tokens_.push_back(token); }
  void addBlock(uint32_t firstToken, std::span<const uint8_t> bytes);
  /// Ends the last document, and sets the sections of a segment to those of this object: all sections of documents but
  /// the lengths of their contents.
  /// @param keys a JSON list of the keys of the frontmatter
  void finish(std::string_view keys, TextSegment& segment);

 private:
  void addString(std::string_view text);
  void endDocument();

  std::vector<uint32_t> stringStart_;
  std::vector<uint8_t> strings_;
  std::vector<uint32_t> pathHashes_;
  std::vector<uint32_t> tokenStart_;
  std::vector<int32_t> tokens_;
  std::vector<uint32_t> blockStart_;
  std::vector<uint32_t> blocks_;
  std::vector<uint8_t> texts_;
  std::vector<uint8_t> languages_;
};

}  // namespace tessera
