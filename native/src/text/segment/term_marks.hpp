// Which word of a query each term of a segment matches.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "text/segment/text_query.hpp"
#include "text/segment/weights.hpp"

namespace tessera {

/// Calls `visit(term, coverage)` for each term of a segment that matches a word, with the covered share of the word.
template <typename Visit>
void eachMatchOf(const PlannedWord& word, const TextSegment& segment, size_t number, const Visit& visit) {
  const SegmentTerms& terms = word.terms[number];
  for (const TermMatch& form : terms.forms) visit(form.term, form.coverage);
  for (const TermMatch& other : terms.others) visit(other.term, other.coverage);
  for (const ApartTerms& apart : terms.apart) {
    for (const uint32_t term : apart.terms) visit(term, SPELLING_COVERAGE);
  }
  for (uint32_t term = terms.longer.from; term < terms.longer.to; term++) {
    visit(term, word.similarityOfLonger(segment.termLength(term)));
  }
}

/// Stands for a missing position of a token.
inline constexpr size_t NO_TOKEN = SIZE_MAX;

/// Whether a term alone matches a word of the query, and is not only a part of a word that is written apart.
bool isWholeMatch(const TextQuery& query, size_t number, uint32_t term);

/// Memory that a thread reuses: as long as its largest segment has terms, and all zero between uses.
struct MarkScratch {
  std::vector<uint8_t> wordOf;
  std::vector<float> coverageOf;

  void fit(size_t terms);
};

/// The marks of the terms that match a query in one segment. A scratch memory serves one `TermMarks` at a time.
class TermMarks {
 public:
  TermMarks(const TextSegment& segment, size_t number, const TextQuery& query, MarkScratch& scratch);
  /// Clears the scratch memory.
  ~TermMarks();
  TermMarks(const TermMarks&) = delete;
  TermMarks& operator=(const TermMarks&) = delete;

  /// By term, the position in the query of the word that the term matches, plus 1; 0 without a match.
  const uint8_t* wordOf() const { return scratch_.wordOf.data(); }
  /// The first token of a word that is written apart and ends with the token at a position; `NO_TOKEN` if another word
  /// or only a part of it is there. The position itself for any other token that matches.
  size_t startOf(std::span<const int32_t> tokens, size_t at) const;
  /// Whether the token at a position is a word of the query, or ends a word that is written apart.
  bool isMatch(std::span<const int32_t> tokens, size_t at) const;
  /// Whether a term earns bonuses for its word.
  bool earnsBonus(uint32_t term) const;
  /// The amount that an occurrence of the term adds to the coverage of the query, out of `maxScore`.
  double coverageOf(uint32_t term) const { return scratch_.coverageOf[term]; }

  /// Calls `visit(word, terms)` for each way in which a word of at least this weight is written apart.
  template <typename Visit>
  void eachApart(double least, const Visit& visit) const {
    for (size_t w = 0; w < query_.words.size(); w++) {
      if (query_.words[w].weight < least) continue;
      for (const ApartTerms& own : query_.words[w].planned->terms[number_].apart) visit(w, own.terms);
    }
  }
  bool isWhole(uint32_t term) const { return isWholeMatch(query_, number_, term); }

  /// Calls `visit(term)` for every term that matches a word of at least this weight, sometimes repeatedly.
  template <typename Visit>
  void each(double least, const Visit& visit) const {
    for (const QueryWord& word : query_.words) {
      if (word.weight < least) continue;
      eachMatchOf(*word.planned, segment_, number_, [&](uint32_t term, double) { visit(term); });
    }
  }

 private:
  const TextSegment& segment_;
  const TextQuery& query_;
  const size_t number_;
  MarkScratch& scratch_;
};

}  // namespace tessera
