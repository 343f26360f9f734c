#include "text/query/text_view.hpp"

#include <algorithm>
#include <bit>

#include "text/query/plan_word.hpp"
#include "text/segment/stem_table.hpp"

namespace tessera {

static constexpr size_t PLANNED_WORDS_CACHED = 512;
static constexpr uint32_t SET_WORD_BITS = 32;

uint32_t nextInScope(const TextSegment& segment, uint32_t from) {
  const uint32_t end = segment.documentCount();
  const DocumentSet& set = segment.inScope;
  if (set.all || from >= end) return std::min(from, end);
  size_t word = from / SET_WORD_BITS;
  uint32_t mask = UINT32_MAX << (from % SET_WORD_BITS);
  for (; word < set.words.size(); word++, mask = UINT32_MAX) {
    const uint32_t bits = set.words[word] & mask;
    if (bits == 0) continue;
    const auto document = static_cast<uint32_t>(word) * SET_WORD_BITS;
    return std::min(end, document + static_cast<uint32_t>(std::countr_zero(bits)));
  }
  return end;
}

TextView::TextView(std::vector<TextSegment> segments) : segments_(std::move(segments)) {
  size_t tokens = 0;
  for (TextSegment& segment : segments_) {
    size_t own = 0;
    const uint32_t end = segment.documentCount();
    for (uint32_t d = nextInScope(segment, 0); d < end; d = nextInScope(segment, d + 1)) {
      own++;
      tokens += segment.lengths[d];
      countLanguage(segment.languages[d]);
    }
    // A set of all documents need not be checked for every document.
    if (own == end) segment.inScope.all = true;
    documents_ += own;
  }
  for (uint8_t l = 0; l < STEM_LANGUAGES; l++) {
    if (documentsIn_[l] > 0) languages_.push_back(l);
  }
  if (documents_ == 0) return;
  averageLength_ = std::max(1.0, static_cast<double>(tokens) / static_cast<double>(documents_));
}

void TextView::countLanguage(uint8_t language) {
  documentsIn_[language]++;
  const uint8_t latin = languageFor(language, true);
  if (latin != language) documentsIn_[latin]++;
}

size_t TextView::formFrequency(size_t segment, uint8_t language, uint32_t form) const {
  const TextSegment& own = segments_[segment];
  if (own.inScope.all) return own.stemCounts[form];
  size_t count = 0;
  for (const uint32_t posting : own.postingsOf(own.stemTerms[form])) {
    const uint32_t document = posting >> POSTING_DOCUMENT_SHIFT;
    count += own.inScope.has(document) &&
             languageFor(own.languages[document], isLatin(language)) == language;
  }
  return count;
}

size_t TextView::frequencyOf(size_t segment, Range terms) const {
  const TextSegment& own = segments_[segment];
  const auto postings = own.postingsOf(terms);
  if (own.inScope.all) return postings.size();
  size_t count = 0;
  for (const uint32_t posting : postings) count += own.inScope.has(posting >> POSTING_DOCUMENT_SHIFT);
  return count;
}

size_t TextView::countInShard(TextShard shard) {
  if (shard.count <= 1) return documents_;
  const auto [entry, isNew] = shardCounts_.try_emplace(shard, 0);
  if (!isNew) return entry->second;
  for (const TextSegment& segment : segments_) {
    const uint32_t end = segment.documentCount();
    for (uint32_t d = nextInScope(segment, 0); d < end; d = nextInScope(segment, d + 1)) {
      entry->second += shard.has(segment.pathHashes[d]);
    }
  }
  return entry->second;
}

std::shared_ptr<const PlannedWord> TextView::planned(const AnalysedWord& word) {
  std::u16string key = word.text;
  const bool isCut = (word.pairs | word.englishPairs | word.parts) != 0;
  key += static_cast<char16_t>(word.isPrefix + 2 * word.mayBeMisspelt + 4 * word.isCharacter + 8 * word.isBeingTyped +
                               16 * isCut);
  if (isCut) {
    for (const uint32_t bits : {word.pairs, word.englishPairs, word.parts}) {
      key += static_cast<char16_t>(bits);
      key += static_cast<char16_t>(bits >> 16);
    }
  }
  if (word.raw != word.text) key += word.raw;
  const auto known = words_.find(key);
  if (known != words_.end()) return known->second;
  if (words_.size() >= PLANNED_WORDS_CACHED) words_.clear();
  auto planned = std::make_shared<const PlannedWord>(planWord(*this, word));
  words_.emplace(key, planned);
  return planned;
}

}  // namespace tessera
