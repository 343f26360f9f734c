// Second pass over a segment, which reads the tokens of single documents in order.
#pragma once
#include <cstdint>
#include <vector>

#include "text/segment/term_marks.hpp"
#include "text/segment/text_query.hpp"
#include "text/segment/text_segment.hpp"

namespace tessera {

/// Adds bonuses, as shares of the query's maximum score: for words that are as close to each other as
/// in the query, for phrases, for a title, heading or frontmatter value that fits the query, and for a title or
/// heading that the query names among other words.
///
/// A passage is a title, a heading, a frontmatter value or the content.
class Reranker {
 public:
  Reranker(const TextSegment& segment, size_t number, const TermMarks& marks, const TextQuery& query);

  /// The amount to add to the score of the first pass.
  double bonus(uint32_t document);

 private:
  /// A word of the query while a document is read.
  struct Word {
    double weight;
    /// The number of this word among the selective words, from 1 on; 0 if it is not selective.
    size_t place;
    /// Weight of the pair of this word and the selective word before it, and the number of words between them.
    double pairWeight;
    size_t gap;
    /// The places of both in the query; `NO_WORD` without such a word.
    size_t before;
    size_t after;
    /// Best proximity of that pair so far.
    double pairProximity;
    /// Weight of the phrase that ends at the last position of the word.
    double phraseWeight;
    size_t lastPosition;
    /// The passage of the last position.
    uint32_t lastPassage;
    /// Whether every match in the segment is one token of this word alone, and earns bonuses.
    bool isPlain;
  };

  /// How well the title, headings and frontmatter fit the query.
  struct Fits {
    double start = 0;
    double title = 0;
    double titleNamed = 0;
    double heading = 0;
    double headingNamed = 0;
    double frontmatter = 0;
  };

  Fits readDocument(size_t from, size_t end);
  /// Reads up to the next mark and returns its position.
  size_t readPassage(size_t from, size_t end);
  bool isMiss(const int32_t* tokens) const;
  void addMatch(size_t word, uint32_t term, size_t position);
  void addSpelling(size_t word, uint32_t term, size_t position);
  /// Adds an occurrence of a word: the tokens up to a position, and the share of the word that they cover.
  void addWord(size_t word, double coverage, size_t start, size_t position);
  /// The words that documents write as one with this one, by that term; null for any other term.
  const JoinedWords* joinedBy(size_t word, uint32_t term) const;
  double fit(size_t length) const;
  double startsWithQuery() const;
  double named(size_t length) const;
  double proximityTo(size_t word, size_t position, size_t gap) const;
  double phrase() const;
  double proximity() const;

  const TextSegment& segment_;
  const size_t number_;
  const TermMarks& marks_;
  const TextQuery& query_;
  std::vector<Word> words_;
  double runPower_;
  double bestPhrase_ = 0;
  uint32_t passage_ = 0;
  /// In the current passage: the query coverage, the number of matching words, the further tokens of words
  /// written apart, and the token after the last match.
  double coverage_ = 0;
  size_t matches_ = 0;
  size_t further_ = 0;
  size_t matchedEnd_ = 0;
  /// In the current passage: the number of words of the query that start it, in order, and the token after them.
  size_t leading_ = 0;
  size_t leadingEnd_ = 0;
  /// In the current passage: the place of its last selective word, and whether its selective words are
  /// consecutive in the query.
  size_t lastPlace_ = 0;
  bool inOrder_ = true;
};

}  // namespace tessera
