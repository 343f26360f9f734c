// An environment or release at one instant: segments and, for each, the documents in scope.
#pragma once
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "text/segment/text_query.hpp"
#include "text/segment/text_segment.hpp"

namespace tessera {

/// It belongs to one thread. It never changes, so what is counted in it is kept.
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

  /// Words as they were planned: queries share words, and those of a query that is being typed share
  /// nearly all.
  std::shared_ptr<const PlannedWord> planned(const AnalysedWord& word);

 private:
  std::vector<TextSegment> segments_;
  size_t documents_ = 0;
  double averageLength_ = 1;
  std::map<TextShard, size_t> shardCounts_;
  std::unordered_map<std::u16string, std::shared_ptr<const PlannedWord>> words_;
};

/// The first document in scope that is not below `from`; the number of documents if there is none.
uint32_t nextInScope(const TextSegment& segment, uint32_t from);

}  // namespace tessera
