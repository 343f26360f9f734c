// A text query as it was planned: its words, the terms of each segment that match them, and weights.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace tessera {

/// A term of a segment that matches a word of the query.
struct TermMatch {
  uint32_t term;
  /// What an occurrence counts, as a share of the word itself, which is 1.
  double similarity;
  /// What an occurrence adds to the coverage of the query, out of `maxScore`.
  double coverage;
};

struct QueryWord {
  /// Whether the word makes a document a match. Other words only add to the scores of matches.
  bool selective;
  /// Inverse document frequency.
  double idf;
  /// The most that the word can add to a score: `formWeight + exactWeight`.
  double weight;
  /// What all forms of the word earn together.
  double formWeight;
  /// What only the word itself earns.
  double exactWeight;
  /// What a longer or misspelt word can add, before its similarity.
  double otherWeight;
};

/// The matches of one word in one segment.
struct WordMatches {
  /// The word itself and the terms of the same stem: their frequencies add up.
  std::span<const TermMatch> forms;
  /// Longer words, and those that it may be a misspelling of: only the best counts.
  std::span<const TermMatch> others;
};

/// `src/text/query/weights.ts` documents and sets them.
struct RankWeights {
  double k1;
  double contentB;
  double proximityBonus;
  double phraseBonus;
  double runPower;
  double runPowerPerWord;
  double titleStartBonus;
  double titleBonus;
  double headingBonus;
  double frontmatterBonus;
  double fitPower;
  double proximityMaxDistance;
  double reversedOrderShare;
};

struct TextQuery {
  RankWeights weights;
  /// By the code of a posting: the frequency in the content, and the weighted one in other fields.
  std::span<const float> contentFrequencies;
  std::span<const float> fieldFrequencies;
  /// Mean length of the documents in scope, in tokens of content.
  double averageLength;
  /// The most that all words together can add to a score.
  double maxScore;
  uint32_t shardIndex;
  uint32_t shardCount;
  /// How many matches are returned.
  size_t limit;
  /// So many of the best matches are ranked again, by at most so many of their tokens.
  size_t rerankDocuments;
  size_t rerankMaxTokens;
  std::vector<QueryWord> words;
  /// For each segment, the matches of each word.
  std::vector<std::vector<WordMatches>> matches;
};

}  // namespace tessera
