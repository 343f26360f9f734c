// A text query: its analysed words and their matches in a view.
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
  /// As written, in lower case: the same, or with the diacritics that tokens omit.
  std::u16string raw;
  /// How often it is in the query. A word that occurs twice counts twice.
  uint32_t count;
  /// Whether it may be unfinished, so that longer words that begin with it match as well.
  bool isPrefix;
  /// Whether it is one character of a script without spaces: pairs of characters that begin with it have it.
  bool isCharacter;
  /// Whether it has enough letters to distinguish a typo from another word.
  bool mayBeMisspelt;
  /// Whether it is an identifier in mixed case.
  bool isIdentifier;
  /// Whether it is a pair of characters of a script without word spaces that are neighbours by chance: the pair
  /// spans the end of one word and the start of the next, or of a particle.
  bool isChance;
  /// The languages of which it is a function word, as bits.
  uint32_t functionalIn;
  /// Where texts may write it as two words: bit i for a second one from unit i on.
  uint32_t pairs;
  /// The same where all documents are in English.
  uint32_t englishPairs;
  /// The starts of the parts of a name that texts may write apart, as bits.
  uint32_t parts;
  /// Whether the user may still be typing, as in a lookup. Then longer words match even if documents in scope
  /// hold the word or a form of it, and earn bonuses otherwise.
  bool isBeingTyped = true;
};

/// How texts may write successive words of a query as one.
struct JoinedSpelling {
  /// The places of the words.
  size_t first;
  size_t last;
  std::u16string text;
};

struct AnalysedQuery {
  std::vector<AnalysedWord> words;
  std::vector<JoinedSpelling> joined;
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
  /// The postings of the documents that hold these terms in succession.
  std::vector<uint32_t> postings;
};

/// The matches of a word in one segment.
struct SegmentTerms {
  /// The word itself and the terms of the same stem, ascending: their frequencies add up.
  std::vector<TermMatch> forms;
  /// Words that it may misspell, or that contain it as a part. Of these, the longer words and the spellings apart, only
  /// the best counts.
  std::vector<TermMatch> others;
  std::vector<ApartTerms> apart;
  /// Longer words that begin with it; some may be forms.
  Range longer;
};

/// A word and its matches in a view, independent of the rest of the query.
struct PlannedWord {
  size_t length = 0;
  /// The similarity of a longer word is this, times the share of it that was typed.
  double longerSimilarity = 0;
  /// Whether longer words earn bonuses as the word itself would.
  bool longerEarnBonus = true;
  /// Whether documents in scope hold it, a form of it or a longer word. Other matches are its possible meanings.
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
  /// The weight of the pair of this word and the selective word before it; 0 if no document holds the word before,
  /// or if this word is not selective. `gap` words are between them.
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
  /// The amount that words without a document in scope would add to `maxScore`.
  double missingScore;
  /// The weight of all pairs of neighbouring selective words, including pairs of words that no document holds.
  double pairWeight;
  /// Mean length of the documents in scope, in tokens of content.
  double averageLength;
  TextShard shard;
  /// The number of matches that are returned.
  size_t limit;
};

}  // namespace tessera
