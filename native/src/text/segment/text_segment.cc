#include "text/segment/text_segment.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>

#include "common/keyed_hash.hpp"
#include "text/segment/stem.hpp"

namespace tessera {

namespace {

/// The header has the identity of the segment, and the number of elements of each section in a word of 32 bits.
constexpr size_t HEADER_BYTES = 88;
constexpr size_t COUNTS_WORD = 2;
/// Sections start at multiples of this.
constexpr size_t SECTION_ALIGNMENT = 8;

size_t aligned(size_t bytes) { return (bytes + SECTION_ALIGNMENT - 1) & ~(SECTION_ALIGNMENT - 1); }

[[noreturn]] void refuse(const char* reason) { throw std::invalid_argument(reason); }

/// Reads the sections of a segment one after another.
class SectionReader {
 public:
  explicit SectionReader(std::span<const uint8_t> buffer) : buffer_(buffer) {
    if (buffer.size() < HEADER_BYTES) refuse("a segment is shorter than its header");
    const auto address = reinterpret_cast<uintptr_t>(buffer.data());
    if (address % SECTION_ALIGNMENT != 0) refuse("a segment is not aligned");
  }

  uint64_t identity() const { return value<uint64_t>(0); }

  template <typename Element>
  void read(std::span<const Element>& section) {
    const size_t count = value<uint32_t>((COUNTS_WORD + section_++) * sizeof(uint32_t));
    if (count > (buffer_.size() - at_) / sizeof(Element)) refuse("a section is not within its segment");
    section = {reinterpret_cast<const Element*>(buffer_.data() + at_), count};
    const size_t end = at_ + count * sizeof(Element);
    at_ = std::min(buffer_.size(), aligned(end));
  }

 private:
  template <typename Value>
  Value value(size_t at) const {
    Value value;
    std::memcpy(&value, buffer_.data() + at, sizeof value);
    return value;
  }

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
                    segment.stringStart.back() <= segment.strings.size() &&
                    segment.stringStart[documents * 4] <= segment.stringStart.back();
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
  eachSection(segment, [&](auto& section) { reader.read(section); });
  checkCounts(segment);
  segment.identity = reader.identity();
  segment.inScope = {true, {}};
  segment.keys = stringsIn(segment.string(segment.lengths.size() * 4));
  return segment;
}

void writeSections(const TextSegment& sections, const SegmentMemory& memory) {
  size_t bytes = HEADER_BYTES;
  eachSection(sections, [&](const auto& section) { bytes = aligned(bytes + section.size_bytes()); });
  const std::span<uint8_t> buffer = memory(bytes);
  if (buffer.size() != bytes) refuse("the memory does not have the size of the segment");
  const auto put = [&](size_t word, auto value) {
    std::memcpy(buffer.data() + word * sizeof(uint32_t), &value, sizeof value);
  };
  put(0, HashKey::random().first);
  size_t at = HEADER_BYTES, count = COUNTS_WORD;
  eachSection(sections, [&](const auto& section) {
    put(count++, offsetOf(section.size()));
    if (!section.empty()) std::memcpy(buffer.data() + at, section.data(), section.size_bytes());
    at = aligned(at + section.size_bytes());
  });
}

uint32_t offsetOf(size_t position) {
  if (position > UINT32_MAX) throw std::out_of_range("a segment is too long");
  return static_cast<uint32_t>(position);
}

void requireDocuments(size_t count) {
  if (count > SEGMENT_MAX_DOCUMENTS) {
    throw std::out_of_range("a segment holds at most " + std::to_string(SEGMENT_MAX_DOCUMENTS) + " documents");
  }
}

}  // namespace tessera
