// First pass over a segment: adds up the scores of its documents, word by word.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "text/query/segment_matches.hpp"
#include "text/segment/text_query.hpp"

namespace tessera {

/// The amount that a word has added to the scores of documents.
struct WordScores {
  /// By document.
  std::vector<float> scores;
  /// The documents that hold the word. Not cleared.
  std::vector<uint32_t> documents;
  size_t count = 0;

  void fit(size_t documentCount);
  void clear();
};

/// Memory that a thread reuses: as long as its largest segment has documents, and all zero between
/// uses unless stated otherwise.
struct ScoreScratch {
  MatchScratch matches;
  /// Weighted frequency of all forms of the current word in each document.
  std::vector<float> frequencies;
  WordScores word;
  /// Of the word whose longer words are scored later.
  WordScores unfinished;

  void fit(size_t documents);
};

/// A word, or a part of one, that is scored in one go.
struct ScoringStep {
  enum Part : uint8_t { WHOLE, WITHOUT_LONGER, ONLY_LONGER };

  /// The position in `query.words`.
  size_t word;
  Part part;
  /// The most that it can add to a score.
  double weight;
  /// The most that a later step of the same word can add to that.
  double left;
};

/// The order in which words are scored: selective words first, because they determine the matches that the
/// others add to, and the weightiest first. The words that start with an unfinished one are many and weigh
/// little, so that they come later than the word itself, when few candidates are left.
std::vector<ScoringStep> scoringOrder(const TextQuery& query);

/// Adds the scores of all words to `matches`. `number` is the position of the segment in the view.
void scoreSegment(const TextSegment& segment, size_t number,
                  const TextQuery& query, std::span<const ScoringStep> order, const Wanted& wanted,
                  SegmentMatches& matches, ScoreScratch& scratch);

}  // namespace tessera
