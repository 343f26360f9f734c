// Damaged or forged text segments: a merge refuses them, or writes a segment that can be merged again.
#include "text/segment/merge.hpp"

#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "check.hpp"
#include "text/segment/document_sections.hpp"
#include "text/segment/postings.hpp"
#include "text/segment/sorted_terms.hpp"
#include "text/segment/stem_table.hpp"

// Stand in for the stemmers, which read no segment.
namespace tessera {
bool isLatin(uint8_t language) { return language != 1; }
bool hasStem(std::u16string_view word, uint8_t) { return word.size() > 1; }
uint32_t stemKey(std::u16string_view word, uint8_t language) { return word[0] + language; }
}  // namespace tessera

using namespace tessera;

static constexpr uint32_t DOCUMENTS = 5;
static constexpr size_t SEGMENTS = 3;

/// Memory of a segment, which is aligned.
struct Memory {
  std::vector<uint64_t> words;

  SegmentMemory allocate() {
    return [this](size_t bytes) -> std::span<uint8_t> {
      words.assign((bytes + 7) / 8, 0);
      return {reinterpret_cast<uint8_t*>(words.data()), bytes};
    };
  }
  std::span<const uint8_t> bytes() const { return {reinterpret_cast<const uint8_t*>(words.data()), words.size() * 8}; }
};

/// Writes a segment of a few documents, some of which other segments have as well.
static Memory writeValid(uint32_t first) {
  const std::u16string_view texts[] = {u"lamp", u"lamps", u"oil", u"wick", u"a"};
  const SortedTerms terms = sortTerms(texts);
  DocumentSections documents;
  for (uint32_t d = first; d < first + DOCUMENTS; d++) {
    const std::string path = std::to_string(d) + ".md";
    documents.begin({path, path, "title", "[]"}, static_cast<uint8_t>(d % 2));
    documents.addToken(markOf(TITLE_FIELD));
    documents.addToken(static_cast<int32_t>(d % terms.size()));
    documents.addToken(markOf(FIRST_KEY_FIELD));
    documents.addToken(static_cast<int32_t>(d / 2 % terms.size()));
    documents.addToken(BREAK_MARK);
    documents.addToken(markOf(CONTENT_FIELD));
    for (uint32_t term = 0; term < d % 4; term++) documents.addToken(static_cast<int32_t>(term));
    const uint8_t block[] = {1, 2, static_cast<uint8_t>(d)};
    documents.addBlock(0, block);
  }
  TextSegment segment{};
  documents.finish(first % 2 == 0 ? R"(["tags"])" : R"(["owner","tags"])", segment);
  terms.fill(segment);
  const FieldWeight weights[] = {PATH_WEIGHT, TITLE_WEIGHT, HEADINGS_WEIGHT, CONTENT_WEIGHT, TITLE_WEIGHT};
  std::vector<uint32_t> lengths;
  const Postings postings = invert({segment.tokenStart, segment.tokens, terms.size()}, weights, lengths);
  segment.lengths = lengths;
  postings.fill(segment);
  const StemSource source{segment.languages, postings.starts, postings.postings};
  std::vector<StemForm> forms;
  for (uint32_t term = 0; term < terms.size(); term++) addStemForms(source, term, terms.term(term), false, forms);
  const StemTable stems = stemTableOf(source, forms);
  stems.fill(segment);
  Memory memory;
  writeSections(segment, memory.allocate());
  return memory;
}

static const std::vector<Memory>& validSegments() {
  static const std::vector<Memory> segments = {writeValid(0), writeValid(3), writeValid(9)};
  return segments;
}

/// Changes one word of a segment, selected by four bytes of the input.
static void damage(std::vector<Memory>& segments, const uint8_t* edit) {
  std::vector<uint64_t>& words = segments[edit[0] % SEGMENTS].words;
  const size_t at = (size_t{edit[0]} / SEGMENTS << 8 | edit[1]) % (words.size() * 2);
  // Small numbers and those near to the largest one.
  const auto value = static_cast<uint32_t>(static_cast<int8_t>(edit[2])) << (edit[3] % 4 * 8);
  std::memcpy(reinterpret_cast<uint8_t*>(words.data()) + at * sizeof value, &value, sizeof value);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const uint32_t kept[] = {data[0]};
  std::vector<Memory> buffers = validSegments();
  for (size_t at = 1; at + 4 <= size; at += 4) damage(buffers, data + at);
  Memory merged;
  try {
    std::vector<TextSegment> segments;
    for (const Memory& buffer : buffers) segments.push_back(readSegment(buffer.bytes()));
    segments[0].inScope = {false, kept};
    mergeSegments(segments, merged.allocate());
  } catch (const std::invalid_argument&) {
    return 0;
  }
  const TextSegment first[] = {readSegment(merged.bytes())};
  Memory again;
  mergeSegments(first, again.allocate());
  CHECK(again.words.size() <= merged.words.size());
  return 0;
}
