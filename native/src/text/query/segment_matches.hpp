// The matches in one segment while the words of a query are scored one after another.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "text/segment/text_query.hpp"
#include "text/segment/text_segment.hpp"

namespace tessera {

/// The matches of a segment to rank.
struct Wanted {
  /// The number of best matches to rank.
  size_t best;
  /// The least score of a match to rank.
  double least;
};

/// Memory that a thread reuses: as long as its largest segment has documents, and all zero between
/// uses unless stated otherwise.
struct MatchScratch {
  std::vector<float> scores;
  /// Once the candidates are known: 1 for each of them.
  std::vector<uint8_t> isCandidate;
  /// Once the candidates are known: 1 for each document that holds a selective word.
  std::vector<uint8_t> holdsSelective;
  /// The documents with a score. Not cleared.
  std::vector<uint32_t> matches;
  /// Not cleared.
  std::vector<uint32_t> candidates;
  std::vector<float> best;

  void fit(size_t documents);
};

/// Once the remaining words cannot lift another document among the best, only the candidates are scored and
/// the other matches are counted (MaxScore).
class SegmentMatches {
 public:
  SegmentMatches(const TextSegment& segment, const TextQuery& query, MatchScratch& scratch);
  /// Clears the scratch memory.
  ~SegmentMatches();
  SegmentMatches(const SegmentMatches&) = delete;
  SegmentMatches& operator=(const SegmentMatches&) = delete;

  /// Adds to the score of a document that `eachPosting` gave.
  void add(uint32_t document, float score) {
    float& sum = scratch_.scores[document];
    scratch_.matches[matchCount_] = document;
    matchCount_ += sum == 0;
    sum += score;
  }

  /// Narrows the candidates to the documents that can be among the best with a further gain of `left`.
  void narrow(double left, const Wanted& wanted);

  /// Calls `visit(posting, document)` for the postings of a word that must be scored.
  template <typename Visit>
  void eachPosting(std::span<const uint32_t> postings, bool selective, const Visit& visit) {
    if (narrowed_) {
      if (selective) count(postings);
      const double steps = static_cast<double>(candidateCount_) * std::log2(postings.size() + 1.0);
      if (steps * POSTINGS_PER_STEP < static_cast<double>(postings.size())) {
        eachCandidateByBisection(postings, visit);
      } else {
        eachOfCandidates(postings, visit);
      }
    } else if (!selective) {
      eachOfMatches(postings, visit);
    } else if (acceptsAll_) {
      for (const uint32_t posting : postings) visit(posting, posting >> POSTING_DOCUMENT_SHIFT);
    } else {
      eachInScope(postings, visit);
    }
  }

  /// True once only the candidates are scored.
  bool isNarrowed() const { return narrowed_; }

  /// Counts the documents with these postings as matches, once only the candidates are scored.
  void count(std::span<const uint32_t> postings) {
    uint8_t* holdsSelective = scratch_.holdsSelective.data();
    for (const uint32_t posting : postings) holdsSelective[posting >> POSTING_DOCUMENT_SHIFT] = 1;
  }

  /// Once only the candidates are scored.
  std::span<const uint32_t> candidates() const {
    return std::span(scratch_.candidates).first(candidateCount_);
  }

  /// Calls `visit(posting, document)` for the postings of candidates. `visit` gets a reference to each posting,
  /// whose place gives its term.
  template <typename Visit>
  void eachOfCandidates(std::span<const uint32_t> postings, const Visit& visit) {
    const uint8_t* isCandidate = scratch_.isCandidate.data();
    eachWhere(postings, [=](uint32_t document) { return isCandidate[document] != 0; }, visit);
  }

  /// The number of all matches.
  size_t total() const;

  /// Calls `visit(document, score)` for at least the matches that are wanted.
  template <typename Visit>
  void eachWanted(const Visit& visit) const {
    for (const uint32_t document : found()) visit(document, double{scratch_.scores[document]});
  }

 private:
  /// Number of postings whose reading costs as much as one step of a bisection.
  static constexpr double POSTINGS_PER_STEP = 4;
  static constexpr size_t POSTINGS_AT_ONCE = 512;

  /// The documents that may be among the best.
  std::span<const uint32_t> found() const {
    return narrowed_ ? candidates() : std::span(scratch_.matches).first(matchCount_);
  }

  bool isInScope(uint32_t document) const {
    if (acceptsAll_) return true;
    return segment_.inScope.has(document) && shard_.has(segment_.pathHashes[document]);
  }

  template <typename Visit>
  void eachInScope(std::span<const uint32_t> postings, const Visit& visit) {
    for (const uint32_t posting : postings) {
      const uint32_t document = posting >> POSTING_DOCUMENT_SHIFT;
      if (scratch_.scores[document] != 0 || isInScope(document)) visit(posting, document);
    }
  }

  template <typename Visit>
  void eachOfMatches(std::span<const uint32_t> postings, const Visit& visit) {
    const float* scores = scratch_.scores.data();
    eachWhere(postings, [=](uint32_t document) { return scores[document] != 0; }, visit);
  }

  /// Collects the wanted postings without a branch, because the processor cannot predict which are wanted.
  template <typename IsWanted, typename Visit>
  void eachWhere(std::span<const uint32_t> postings, const IsWanted& isWanted, const Visit& visit) {
    std::array<uint32_t, POSTINGS_AT_ONCE> found;
    for (size_t from = 0; from < postings.size(); from += POSTINGS_AT_ONCE) {
      const auto some = postings.subspan(from, std::min(POSTINGS_AT_ONCE, postings.size() - from));
      size_t foundCount = 0;
      for (uint32_t i = 0; i < some.size(); i++) {
        found[foundCount] = i;
        foundCount += isWanted(some[i] >> POSTING_DOCUMENT_SHIFT);
      }
      for (size_t i = 0; i < foundCount; i++) {
        const uint32_t& posting = some[found[i]];
        visit(posting, posting >> POSTING_DOCUMENT_SHIFT);
      }
    }
  }

  template <typename Visit>
  void eachCandidateByBisection(std::span<const uint32_t> postings, const Visit& visit) {
    sortCandidates();
    auto from = postings.begin();
    for (const uint32_t document : candidates()) {
      from = std::lower_bound(from, postings.end(), document << POSTING_DOCUMENT_SHIFT);
      if (from == postings.end()) return;
      if (*from >> POSTING_DOCUMENT_SHIFT == document) visit(*from, document);
    }
  }

  void sortCandidates();
  /// The least wanted score: that of the `wanted.best`-th match so far, or that of other segments if it is higher.
  float kthBest(const Wanted& wanted);

  const TextSegment& segment_;
  const TextShard shard_;
  const bool acceptsAll_;
  MatchScratch& scratch_;
  /// The matches that have a score.
  size_t matchCount_ = 0;
  bool narrowed_ = false;
  size_t candidateCount_ = 0;
  /// Whether the candidates are in ascending order.
  bool sorted_ = false;
  /// The last result of `kthBest`.
  float kth_ = 0;
  /// `narrow` returns early above this value, because narrowing after every word would take too long.
  double narrowBelow_ = INFINITY;
};

}  // namespace tessera
