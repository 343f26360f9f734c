#include "text/segment/text_segment.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "text/segment/stem.hpp"

namespace tessera {

namespace {

/// The header consists of 32-bit words.
constexpr size_t HEADER_BYTES = 128;
constexpr size_t CHECKSUM_WORD = 4;
constexpr size_t COUNTS_WORD = 7;
/// Sections start at multiples of this.
constexpr size_t SECTION_ALIGNMENT = 8;

[[noreturn]] void refuse(const char* reason) { throw std::invalid_argument(reason); }

/// Reads the sections of a segment one after another.
class SectionReader {
 public:
  explicit SectionReader(std::span<const uint8_t> buffer) : buffer_(buffer) {
    if (buffer.size() < HEADER_BYTES) refuse("a segment is shorter than its header");
    const auto address = reinterpret_cast<uintptr_t>(buffer.data());
    if (address % SECTION_ALIGNMENT != 0) refuse("a segment is not aligned");
  }

  uint32_t word(size_t at) const {
    uint32_t value;
    std::memcpy(&value, buffer_.data() + at * sizeof value, sizeof value);
    return value;
  }

  template <typename Element>
  void read(std::span<const Element>& section) {
    const size_t count = word(COUNTS_WORD + section_++);
    if (count > (buffer_.size() - at_) / sizeof(Element)) refuse("a section is not within its segment");
    section = {reinterpret_cast<const Element*>(buffer_.data() + at_), count};
    const size_t end = at_ + count * sizeof(Element);
    at_ = std::min(buffer_.size(), (end + SECTION_ALIGNMENT - 1) & ~(SECTION_ALIGNMENT - 1));
  }

 private:
  std::span<const uint8_t> buffer_;
  size_t section_ = 0;
  size_t at_ = HEADER_BYTES;
};

/// The strings of a JSON list of strings, without their quotes.
std::vector<std::string_view> stringsIn(std::string_view list) {
  std::vector<std::string_view> strings;
  for (size_t at = list.find('"'); at != std::string_view::npos; at = list.find('"', at)) {
    const size_t start = ++at;
    while (at < list.size() && list[at] != '"') at += list[at] == '\\' ? 2 : 1;
    if (at >= list.size()) refuse("the keys of a segment are cut off");
    strings.push_back(list.substr(start, at - start));
    at++;
  }
  return strings;
}

void checkCounts(const TextSegment& segment) {
  const size_t documents = segment.lengths.size();
  const size_t terms = segment.reversed.size();
  const size_t forms = segment.stemKeys.size();
  const bool fits = segment.stringStart.size() == documents * 4 + 2 &&
                    segment.pathHashes.size() == documents &&
                    segment.tokenStart.size() == documents + 1 &&
                    segment.blockStart.size() == documents + 1 && segment.blocks.size() % 2 == 0 &&
                    segment.termStart.size() == terms + 1 &&
                    segment.languages.size() == documents &&
                    segment.stemStart.size() == STEM_LANGUAGES + 1 &&
                    segment.stemStart.back() == forms && segment.stemTerms.size() == forms &&
                    segment.stemCounts.size() == forms && segment.postingStart.size() == terms + 1 &&
                    segment.stringStart.back() <= segment.strings.size();
  if (!fits) refuse("the sections of a segment do not fit each other");
}

}  // namespace

const uint32_t& TextSegment::postingOf(uint32_t term, uint32_t document) const {
  return *std::ranges::lower_bound(postingsOf(term), document << POSTING_DOCUMENT_SHIFT);
}

uint32_t TextSegment::termOf(const uint32_t& posting) const {
  const auto position = static_cast<uint32_t>(&posting - postings.data());
  const auto end = std::ranges::upper_bound(postingStart, position);
  return static_cast<uint32_t>(end - postingStart.begin() - 1);
}

TextSegment readSegment(std::span<const uint8_t> buffer) {
  SectionReader reader(buffer);
  TextSegment segment{};
  reader.read(segment.stringStart);
  reader.read(segment.strings);
  reader.read(segment.lengths);
  reader.read(segment.pathHashes);
  reader.read(segment.tokenStart);
  reader.read(segment.tokens);
  reader.read(segment.blockStart);
  reader.read(segment.blocks);
  reader.read(segment.texts);
  reader.read(segment.termStart);
  reader.read(segment.termChars);
  reader.read(segment.reversed);
  reader.read(segment.languages);
  reader.read(segment.stemStart);
  reader.read(segment.stemKeys);
  reader.read(segment.stemTerms);
  reader.read(segment.stemCounts);
  reader.read(segment.postingStart);
  reader.read(segment.postings);
  checkCounts(segment);
  segment.checksum = reader.word(CHECKSUM_WORD);
  segment.inScope = {true, {}};
  segment.keys = stringsIn(segment.string(segment.lengths.size() * 4));
  return segment;
}

}  // namespace tessera
