// A text segment in memory: a header, then sections that start at multiples of 8 bytes. The header has a random number
// and the number of elements of each section. The sections, in their order:
//
// | section      | element | content                                                                 |
// |--------------|---------|-------------------------------------------------------------------------|
// | stringStart  | u32     | the start of each string in `strings`; 4 strings per document           |
// | strings      | u8      | path, id, title, frontmatter JSON per document; last: JSON list of keys |
// | lengths      | u32     | per document, the length of its content in tokens                       |
// | pathHashes   | u32     | per document, the hash that decides its shard                           |
// | tokenStart   | u32     | where a document's tokens start in `tokens`                             |
// | tokens       | u32     | per document, its tokens as term numbers, with marks between fields     |
// | blockStart   | u32     | per document, its first text block; last: the number of blocks          |
// | blocks       | u32     | per block: where it starts in `texts`, its first token in the content   |
// | texts        | u8      | blocks of the contents as plain text, compressed, for snippets          |
// | termStart    | u32     | where a term starts in `termChars`                                      |
// | termChars    | u16     | the terms in UTF-16, sorted by code unit                                |
// | reversed     | u32     | term numbers in the order of the reversed terms                         |
// | languages    | u8      | per document, the number of its language                                |
// | stemStart    | u32     | per language, where its forms start in the next three                   |
// | stemKeys     | u32     | per form, the hash of its stem, ascending                               |
// | stemTerms    | u32     | per form, its term                                                      |
// | stemCounts   | u32     | per form, the documents of the language that hold the term              |
// | postingStart | u32     | where a term's postings start in `postings`                             |
// | postings     | u32     | document << 12 | frequency code, ascending                              |
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace tessera {

/// The documents of a segment that are in scope: bit d of word d / 32. Bits beyond the end are unset.
struct DocumentSet {
  /// True when all documents are in scope.
  bool all;
  std::span<const uint32_t> words;

  bool has(uint32_t document) const {
    if (all) return true;
    const size_t word = document >> 5;
    return word < words.size() && ((words[word] >> (document & 31)) & 1) != 0;
  }
};

/// A half-open range of numbers.
struct Range {
  uint32_t from = 0;
  uint32_t to = 0;

  bool empty() const { return from >= to; }
  bool has(uint32_t number) const { return number >= from && number < to; }
};

/// Views of memory that belongs to the caller. The segment was built by this process, or read from a verified file.
struct TextSegment {
  std::span<const uint32_t> stringStart;
  std::span<const uint8_t> strings;
  std::span<const uint32_t> lengths;
  std::span<const uint32_t> pathHashes;
  std::span<const uint32_t> tokenStart;
  /// Terms are at least 0 and marks are negative.
  std::span<const int32_t> tokens;
  std::span<const uint32_t> blockStart;
  std::span<const uint32_t> blocks;
  std::span<const uint8_t> texts;
  std::span<const uint32_t> termStart;
  std::span<const char16_t> termChars;
  std::span<const uint32_t> reversed;
  /// The language of each document, by which its words are stemmed.
  std::span<const uint8_t> languages;
  /// By language, where the forms start in the three lists of their keys, terms and documents.
  std::span<const uint32_t> stemStart;
  std::span<const uint32_t> stemKeys;
  std::span<const uint32_t> stemTerms;
  std::span<const uint32_t> stemCounts;
  std::span<const uint32_t> postingStart;
  std::span<const uint32_t> postings;
  DocumentSet inScope;
  /// The keys of the frontmatter by their number, as JSON strings without their quotes.
  std::vector<std::string_view> keys;
  /// A random number that no other segment has.
  uint64_t identity;

  uint32_t documentCount() const { return static_cast<uint32_t>(lengths.size()); }
  uint32_t termCount() const { return static_cast<uint32_t>(reversed.size()); }

  std::span<const uint32_t> postingsOf(uint32_t term) const {
    return postingsOf(Range{term, term + 1});
  }

  /// The postings of successive terms.
  std::span<const uint32_t> postingsOf(Range terms) const {
    const size_t start = postingStart[terms.from];
    return postings.subspan(start, postingStart[terms.to] - start);
  }

  /// The posting of a term in a document that holds it.
  const uint32_t& postingOf(uint32_t term, uint32_t document) const;
  /// The term that a posting, which is in `postings`, belongs to.
  uint32_t termOf(const uint32_t& posting) const;

  std::span<const int32_t> tokensOf(uint32_t document) const {
    return tokens.subspan(tokenStart[document], tokenStart[document + 1] - tokenStart[document]);
  }

  std::u16string_view term(uint32_t term) const {
    const size_t start = termStart[term];
    return {termChars.data() + start, termStart[term + 1] - start};
  }

  size_t termLength(uint32_t term) const { return termStart[term + 1] - termStart[term]; }

  /// Strings of a document in UTF-8.
  std::string_view path(uint32_t document) const { return string(size_t{document} * 4); }
  std::string_view versionId(uint32_t document) const { return string(size_t{document} * 4 + 1); }
  std::string_view title(uint32_t document) const { return string(size_t{document} * 4 + 2); }
  /// A JSON list of {key, value}.
  std::string_view frontmatter(uint32_t document) const { return string(size_t{document} * 4 + 3); }

  /// The text blocks of a document's content.
  Range blocksOf(uint32_t document) const { return {blockStart[document], blockStart[document + 1]}; }
  /// The number of tokens of the content before a text block.
  uint32_t firstTokenOf(uint32_t block) const { return blocks[size_t{block} * 2 + 1]; }

  /// The compressed text of a block.
  std::span<const uint8_t> block(uint32_t block) const {
    const size_t at = size_t{block} * 2;
    const size_t end = at + 2 < blocks.size() ? blocks[at + 2] : texts.size();
    return texts.subspan(blocks[at], end - blocks[at]);
  }

 private:
  std::string_view string(size_t at) const {
    return {reinterpret_cast<const char*>(strings.data()) + stringStart[at],
            stringStart[at + 1] - stringStart[at]};
  }

  friend TextSegment readSegment(std::span<const uint8_t> buffer);
};

/// Calls `visit(section)` for each section, in the order of the format.
template <typename Segment, typename Visit>
void eachSection(Segment& segment, const Visit& visit) {
  const auto visitAll = [&](auto&... sections) { (visit(sections), ...); };
  visitAll(segment.stringStart, segment.strings, segment.lengths, segment.pathHashes, segment.tokenStart, segment.tokens,
           segment.blockStart, segment.blocks, segment.texts, segment.termStart, segment.termChars, segment.reversed,
           segment.languages, segment.stemStart, segment.stemKeys, segment.stemTerms, segment.stemCounts,
           segment.postingStart, segment.postings);
}

/// Finds the sections of a segment. Throws std::invalid_argument when they do not fit the buffer or
/// each other.
TextSegment readSegment(std::span<const uint8_t> buffer);

/// Gives memory of zeros for a segment of this many bytes.
using SegmentMemory = std::function<std::span<uint8_t>(size_t bytes)>;

/// Writes the header and the sections.
void writeSections(const TextSegment& sections, const SegmentMemory& memory);

/// A posting: the document, and a code of the term frequency in it.
constexpr uint32_t POSTING_DOCUMENT_SHIFT = 12;
constexpr uint32_t POSTING_CODE_MASK = 0xfff;
/// A posting has 20 bits for the document.
constexpr size_t SEGMENT_MAX_DOCUMENTS = size_t{1} << 20;

/// A position in a section. Throws std::out_of_range if a section would be too long for positions of 32 bits.
uint32_t offsetOf(size_t position);
/// Throws std::out_of_range if a segment cannot hold this many documents.
void requireDocuments(size_t count);

/// Marks in `tokens`: a field starts with MARK and its number. Marks from FIRST_INNER_MARK on are within a field.
constexpr uint32_t MARK = 0x80000000;
/// Separates two headings, or a name and its folder: proximity does not reach across it.
constexpr int32_t BREAK_MARK = static_cast<int32_t>(0xffffffff);
/// Starts the subwords of the identifiers in a field.
constexpr int32_t SUBWORDS_MARK = static_cast<int32_t>(0xfffffffe);
/// Starts the joined spellings and the signs of a field.
constexpr int32_t JOINED_MARK = static_cast<int32_t>(0xfffffffd);
constexpr int32_t FIRST_INNER_MARK = JOINED_MARK;

inline int32_t markOf(uint32_t field) { return static_cast<int32_t>(MARK + field); }
inline uint32_t fieldOfMark(int32_t mark) { return static_cast<uint32_t>(mark) & ~MARK; }

/// Numbers of the fields. The numbers of frontmatter keys start at FIRST_KEY_FIELD.
constexpr uint32_t PATH_FIELD = 0;
constexpr uint32_t TITLE_FIELD = 1;
constexpr uint32_t HEADINGS_FIELD = 2;
constexpr uint32_t CONTENT_FIELD = 3;
constexpr uint32_t FIRST_KEY_FIELD = 4;

}  // namespace tessera
