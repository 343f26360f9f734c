// The parts of a text segment that ranking reads. `src/text/segment/format.ts` defines the layout.
#pragma once
#include <cstdint>
#include <span>

namespace tessera {

/// The documents of a segment that are in scope: bit d of word d / 32. Bits beyond the end are unset.
struct DocumentSet {
  /// True when all documents are in scope; `words` is empty then.
  bool all;
  std::span<const uint32_t> words;

  bool has(uint32_t document) const {
    if (all) return true;
    const size_t word = document >> 5;
    return word < words.size() && ((words[word] >> (document & 31)) & 1) != 0;
  }
};

/// Views of memory that belongs to the caller. The segment was verified when it was opened.
struct TextSegment {
  std::span<const uint8_t> strings;
  std::span<const uint32_t> stringStart;
  std::span<const uint32_t> lengths;
  std::span<const uint32_t> pathHashes;
  std::span<const uint32_t> tokenStart;
  /// Terms are at least 0 and marks are negative.
  std::span<const int32_t> tokens;
  std::span<const uint32_t> postingStart;
  std::span<const uint32_t> postings;
  DocumentSet inScope;

  uint32_t documentCount() const { return static_cast<uint32_t>(lengths.size()); }
  size_t termCount() const { return postingStart.size() - 1; }

  std::span<const uint32_t> postingsOf(uint32_t term) const {
    return postings.subspan(postingStart[term], postingStart[term + 1] - postingStart[term]);
  }

  /// The path of a document in UTF-8, the first of its four strings.
  std::span<const uint8_t> path(uint32_t document) const {
    const size_t at = size_t{document} * 4;
    return strings.subspan(stringStart[at], stringStart[at + 1] - stringStart[at]);
  }
};

/// A posting: the document, and a code of how often the term is in it.
constexpr uint32_t POSTING_DOCUMENT_SHIFT = 12;
constexpr uint32_t POSTING_CODE_MASK = 0xfff;

/// Marks in `tokens`: a field starts with MARK and its number; the two others are within a field.
constexpr uint32_t MARK = 0x80000000;
constexpr int32_t SUBWORDS_MARK = static_cast<int32_t>(0xfffffffe);

inline uint32_t fieldOfMark(int32_t mark) { return static_cast<uint32_t>(mark) & ~MARK; }

/// Numbers of the fields; those of the frontmatter start at FIRST_KEY_FIELD.
constexpr uint32_t PATH_FIELD = 0;
constexpr uint32_t TITLE_FIELD = 1;
constexpr uint32_t HEADINGS_FIELD = 2;
constexpr uint32_t CONTENT_FIELD = 3;
constexpr uint32_t FIRST_KEY_FIELD = 4;

}  // namespace tessera
