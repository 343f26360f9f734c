// First pass over a segment: adds up the scores of its documents, word by word.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "text/segment_matches.hpp"
#include "text/text_query.hpp"

namespace tessera {

/// Memory that a thread reuses: as long as its largest segment has documents, and all zero between
/// uses unless stated otherwise.
struct ScoreScratch {
  MatchScratch matches;
  /// Weighted frequency of all forms of the current word in each document.
  std::vector<float> frequencies;
  /// What the current word has added to each document's score.
  std::vector<float> wordScores;
  /// The documents that hold the current word. Not cleared.
  std::vector<uint32_t> touched;

  void fit(size_t documents);
};

/// The words in the order in which they are scored: selective words first, because they determine the
/// matches that the others add to, and the weightiest first. Positions in `query.words`.
std::vector<size_t> scoringOrder(const TextQuery& query);

/// Adds the scores of all words to `matches`, of the segment with this number in the view.
void scoreSegment(const TextSegment& segment, size_t number,
                  const TextQuery& query, std::span<const size_t> order, const Wanted& wanted,
                  SegmentMatches& matches, ScoreScratch& scratch);

}  // namespace tessera
