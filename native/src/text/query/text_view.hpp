// An environment or release at one instant: segments and, for each, the documents in scope.
#pragma once
#include <array>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/keyed_hash.hpp"
#include "text/segment/stem.hpp"
#include "text/segment/text_query.hpp"
#include "text/segment/text_segment.hpp"

namespace tessera {

/// It belongs to one thread. It is immutable, so its counts are cached.
class TextView {
 public:
  /// Over all segments, at most one document per path is in scope.
  explicit TextView(std::vector<TextSegment> segments);

  std::span<const TextSegment> segments() const { return segments_; }
  /// The number of documents in scope.
  size_t documents() const { return documents_; }
  /// Mean length of the documents in tokens of content; at least 1.
  double averageLength() const { return averageLength_; }
  /// The number of documents in scope that hold each of the terms of a segment, added up.
  size_t frequencyOf(size_t segment, Range terms) const;
  size_t countInShard(TextShard shard);
  /// The languages by which words of documents in scope are stemmed.
  std::span<const uint8_t> languages() const { return languages_; }
  /// The number of documents in scope whose words are stemmed by a language.
  size_t documentsIn(uint8_t language) const { return documentsIn_[language]; }
  /// The number of documents in scope that hold the form at this position in `stemTerms` of a segment.
  size_t formFrequency(size_t segment, uint8_t language, uint32_t form) const;

  /// The cached plan of a word. Queries share words, and successive queries of a user who is typing share
  /// nearly all.
  std::shared_ptr<const PlannedWord> planned(const AnalysedWord& word);

 private:
  void countLanguage(uint8_t language);

  std::vector<TextSegment> segments_;
  size_t documents_ = 0;
  double averageLength_ = 1;
  std::array<size_t, STEM_LANGUAGES> documentsIn_{};
  std::vector<uint8_t> languages_;
  std::map<TextShard, size_t> shardCounts_;
  std::unordered_map<std::u16string, std::shared_ptr<const PlannedWord>, KeyedHash> words_;
};

/// The first document in scope from `from` on; the number of documents if `from` is after the last one.
uint32_t nextInScope(const TextSegment& segment, uint32_t from);

}  // namespace tessera
