// A text query: its words as the caller analysed them, and what they match in a view.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "text/segment/text_segment.hpp"

namespace tessera {

/// A distinct word of a query.
struct AnalysedWord {
  /// As a token.
  std::u16string text;
  /// As it is written, in lower case: the same, or with the marks that tokens do without.
  std::u16string raw;
  /// How often it is in the query. What a question names twice matters twice.
  uint32_t count;
  /// Whether it may be unfinished, so that longer words that begin with it match as well.
  bool isPrefix;
  /// Whether it is one character of a script without spaces: pairs of characters that begin with it have it.
  bool isCharacter;
  /// Whether it has enough letters that a typo can be told from another word.
  bool mayBeMisspelt;
  /// Whether it is an identifier in mixed case.
  bool isIdentifier;
  /// Whether it is characters of a script without spaces that are next to each other by chance: they reach from
  /// one word into the next, or into a particle.
  bool isChance;
  /// The languages of which it is a function word, as bits.
  uint32_t functionalIn;
  /// Where texts may write it as two words: bit i for a second one from unit i on.
  uint32_t pairs;
  /// The same where all documents are in English.
  uint32_t englishPairs;
  /// Where the parts of a name start that texts may write apart, as bits.
  uint32_t parts;
  /// Whether the query may still be typed, as that of a lookup: longer words match even where documents in scope hold the
  /// word or a form of it, and elsewhere earn bonuses.
  bool isBeingTyped = true;
};

/// How texts may write successive words of a query as one.
struct JoinedSpelling {
  /// The places of the words.
  size_t first;
  size_t last;
  std::u16string text;
};

/// A term of a segment that matches a word of the query.
struct TermMatch {
  uint32_t term;
  /// The weight of an occurrence, and how much of the word it covers. The word itself: 1 and 1.
  double similarity;
  double coverage;
  /// Whether it earns bonuses as the word itself would.
  bool earnsBonus = true;
};

/// A word as a segment writes it apart: terms that follow each other in documents.
struct ApartTerms {
  std::vector<uint32_t> terms;
  /// Of the documents that hold them so.
  std::vector<uint32_t> postings;
};

/// The matches of a word in one segment.
struct SegmentTerms {
  /// The word itself and the terms of the same stem, ascending: their frequencies add up.
  std::vector<TermMatch> forms;
  /// Words that it may be a misspelling of, or of which it is a part. Of these, the longer words and the spellings apart,
  /// only the best counts.
  std::vector<TermMatch> others;
  std::vector<ApartTerms> apart;
  /// Longer words that begin with it; some may be forms.
  Range longer;
};

/// A word and what it matches in a view, whatever the rest of the query is.
struct PlannedWord {
  size_t length = 0;
  /// The similarity of a longer word is this, times the share of it that was typed.
  double longerSimilarity = 0;
  /// Whether longer words earn bonuses as the word itself would.
  bool longerEarnBonus = true;
  /// Whether documents in scope hold it, a form of it or a longer word: others are what it may mean.
  bool isHeld = false;
  /// The words that it consists of, if it is a compound.
  std::vector<std::u16string> parts;
  /// The number of documents in scope that hold each of the terms, added up.
  size_t frequency = 0;
  /// The most that the word can add to a score: `formWeight + exactWeight`.
  double weight = 0;
  /// The gain of all forms of the word together.
  double formWeight = 0;
  /// The gain of the word itself alone.
  double exactWeight = 0;
  /// The most that a longer or misspelt word, or another spelling can add, before its similarity.
  double otherWeight = 0;
  /// By segment.
  std::vector<SegmentTerms> terms;

  /// The weight of an occurrence of a longer word, and how much of the word it covers.
  double similarityOfLonger(size_t termLength) const {
    return longerSimilarity * static_cast<double>(length) / static_cast<double>(termLength);
  }
};

/// A word in a query, whose weights depend on the other words.
struct QueryWord {
  std::shared_ptr<const PlannedWord> planned;
  /// Whether the word makes a document a match. Other words only add to the scores of matches.
  bool selective;
  /// The weight of the pair of this word and the selective word before it; 0 if documents hold none of these, or this is
  /// none itself. That word is `gap` words further back.
  double pairWeight;
  size_t gap;
  /// As in `PlannedWord`.
  double weight;
  double formWeight;
  double exactWeight;
  double otherWeight;
};

/// Words of a query that documents write as one.
struct JoinedWords {
  /// Their places among the words of the query.
  std::vector<size_t> words;
  /// By segment, the terms.
  std::vector<std::vector<uint32_t>> terms;
};

/// One of `count` disjoint parts of the documents, divided by the hash of their paths.
struct TextShard {
  uint32_t index;
  uint32_t count;

  bool has(uint32_t pathHash) const { return count <= 1 || pathHash % count == index; }
  auto operator<=>(const TextShard&) const = default;
};

struct TextQuery {
  std::vector<QueryWord> words;
  std::vector<JoinedWords> joined;
  /// The most that all words together can add to a score.
  double maxScore;
  /// What the words that no document in scope holds would add to that.
  double missingScore;
  /// The weight of all pairs of neighbouring selective words, also of those of which documents hold one word or none.
  double pairWeight;
  /// Mean length of the documents in scope, in tokens of content.
  double averageLength;
  TextShard shard;
  /// The number of matches that are returned.
  size_t limit;
};

}  // namespace tessera
