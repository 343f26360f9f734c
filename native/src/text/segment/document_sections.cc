#include "text/segment/document_sections.hpp"

namespace tessera {

/// A hash of a path (FNV-1a with a final mix). Segments hold it and shards depend on it, so it must never change.
static uint32_t pathHash(std::string_view path) {
  uint32_t hash = 0x811c9dc5;
  for (const char byte : path) hash = (hash ^ static_cast<uint8_t>(byte)) * 0x01000193;
  hash = (hash ^ hash >> 16) * 0x85ebca6b;
  hash = (hash ^ hash >> 13) * 0xc2b2ae35;
  return hash ^ hash >> 16;
}

void DocumentSections::reserve(size_t tokens, size_t bytes) {
  tokens_.reserve(tokens);
  texts_.reserve(bytes);
}

void DocumentSections::begin(const DocumentStrings& strings, uint8_t language) {
  endDocument();
  addString(strings.path);
  addString(strings.versionId);
  addString(strings.title);
  addString(strings.frontmatter);
  pathHashes_.push_back(pathHash(strings.path));
  languages_.push_back(language);
}

void DocumentSections::addBlock(uint32_t firstToken, std::span<const uint8_t> bytes) {
  blocks_.push_back(offsetOf(texts_.size()));
  blocks_.push_back(firstToken);
  texts_.insert(texts_.end(), bytes.begin(), bytes.end());
}

void DocumentSections::finish(std::string_view keys, TextSegment& segment) {
  endDocument();
  addString(keys);
  stringStart_.push_back(offsetOf(strings_.size()));
  segment.stringStart = stringStart_;
  segment.strings = strings_;
  segment.pathHashes = pathHashes_;
  segment.tokenStart = tokenStart_;
  segment.tokens = tokens_;
  segment.blockStart = blockStart_;
  segment.blocks = blocks_;
  segment.texts = texts_;
  segment.languages = languages_;
}

void DocumentSections::addString(std::string_view text) {
  stringStart_.push_back(offsetOf(strings_.size()));
  strings_.insert(strings_.end(), text.begin(), text.end());
}

/// The end of a document is the start of the next one.
void DocumentSections::endDocument() {
  tokenStart_.push_back(offsetOf(tokens_.size()));
  blockStart_.push_back(offsetOf(blocks_.size() / 2));
}

}  // namespace tessera
