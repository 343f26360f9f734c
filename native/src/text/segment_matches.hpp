// The matches in one segment while the words of a query are scored one after another.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "text/text_query.hpp"
#include "text/text_segment.hpp"

namespace tessera {

/// Which matches of a segment have to be ranked.
struct Wanted {
  /// Only the best so many matter.
  size_t best;
  /// Matches with a lower score do not matter.
  double least;
};

/// Memory that a thread reuses: as long as its largest segment has documents, and all zero between
/// uses unless stated otherwise.
struct MatchScratch {
  std::vector<float> scores;
  /// Once the candidates are known: what is known of a document.
  std::vector<uint8_t> states;
  /// The documents with a score. Not cleared.
  std::vector<uint32_t> matches;
  /// Not cleared.
  std::vector<uint32_t> candidates;
  std::vector<float> best;

  void fit(size_t documents);
};

/// Once the words that are left cannot lift another document among the best, only the candidates are
/// scored and the other matches are counted (MaxScore).
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

  /// Finds the candidates, or fewer of them, if other documents cannot be among the best with `left` more
  /// score.
  void narrow(double left, const Wanted& wanted);

  /// Calls `visit(posting, document)` for the postings of a term that have to be scored.
  template <typename Visit>
  void eachPosting(uint32_t term, bool selective, const Visit& visit) {
    const auto postings = segment_.postingsOf(term);
    if (!narrowed_) {
      if (selective && acceptsAll_) {
        for (const uint32_t posting : postings) visit(posting, posting >> POSTING_DOCUMENT_SHIFT);
      } else {
        eachMatch(postings, selective, visit);
      }
    } else if (selective) {
      eachCandidateCounting(postings, visit);
    } else if (candidateCount_ * std::log2(postings.size() + 1.0) * POSTINGS_PER_STEP <
               postings.size()) {
      eachCandidateByBisection(postings, visit);
    } else {
      eachCandidate(postings, visit);
    }
  }

  /// True once only the candidates are scored.
  bool isNarrowed() const { return narrowed_; }

  /// The same for successive terms, once only the candidates are scored. `visit` gets a reference to each
  /// posting, which tells its term.
  template <typename Visit>
  void eachPosting(Range terms, bool selective, const Visit& visit) {
    const auto postings = segment_.postingsOf(terms);
    if (selective) {
      eachCandidateCounting(postings, visit);
    } else {
      eachCandidate(postings, visit);
    }
  }

  /// The number of all matches.
  size_t total() const { return matchCount_ + countedCount_; }

  /// Calls `visit(document, score)` for at least the matches that are wanted.
  template <typename Visit>
  void eachWanted(const Visit& visit) const {
    for (const uint32_t document : found()) visit(document, double{scratch_.scores[document]});
  }

 private:
  /// What is known of a document once the candidates are known. A match that is no candidate cannot
  /// be among the best any more.
  enum State : uint8_t { UNSEEN = 0, MATCH = 1, CANDIDATE = 2 };

  /// Reading so many postings costs as much as one step of a bisection.
  static constexpr double POSTINGS_PER_STEP = 4;
  static constexpr size_t POSTINGS_AT_ONCE = 512;

  /// The documents that may be among the best.
  std::span<const uint32_t> found() const {
    return narrowed_ ? std::span(scratch_.candidates).first(candidateCount_)
                     : std::span(scratch_.matches).first(matchCount_);
  }

  bool isInScope(uint32_t document) const {
    if (acceptsAll_) return true;
    return segment_.inScope.has(document) && shard_.has(segment_.pathHashes[document]);
  }

  template <typename Visit>
  void eachMatch(std::span<const uint32_t> postings, bool selective, const Visit& visit) {
    for (const uint32_t posting : postings) {
      const uint32_t document = posting >> POSTING_DOCUMENT_SHIFT;
      if (scratch_.scores[document] != 0 || (selective && isInScope(document))) {
        visit(posting, document);
      }
    }
  }

  /// The documents that are no candidates are counted as matches.
  template <typename Visit>
  void eachCandidateCounting(std::span<const uint32_t> postings, const Visit& visit) {
    if (acceptsAll_) {
      eachCandidateWhere<true>(postings, visit);
      return;
    }
    for (const uint32_t& posting : postings) {
      const uint32_t document = posting >> POSTING_DOCUMENT_SHIFT;
      uint8_t& state = scratch_.states[document];
      if (state == CANDIDATE) {
        visit(posting, document);
      } else if (state == UNSEEN && isInScope(document)) {
        state = MATCH;
        countedCount_++;
      }
    }
  }

  template <typename Visit>
  void eachCandidate(std::span<const uint32_t> postings, const Visit& visit) {
    eachCandidateWhere<false>(postings, visit);
  }

  /// Few postings are of candidates, and which ones cannot be foretold: they are collected without a branch.
  template <bool counts, typename Visit>
  void eachCandidateWhere(std::span<const uint32_t> postings, const Visit& visit) {
    uint8_t* states = scratch_.states.data();
    std::array<uint32_t, POSTINGS_AT_ONCE> found;
    for (size_t from = 0; from < postings.size(); from += POSTINGS_AT_ONCE) {
      const auto some = postings.subspan(from, std::min(POSTINGS_AT_ONCE, postings.size() - from));
      size_t foundCount = 0;
      size_t counted = 0;
      for (uint32_t i = 0; i < some.size(); i++) {
        uint8_t& state = states[some[i] >> POSTING_DOCUMENT_SHIFT];
        found[foundCount] = i;
        foundCount += state == CANDIDATE;
        if constexpr (counts) {
          const bool isNew = state == UNSEEN;
          state = static_cast<uint8_t>(state | (isNew ? MATCH : 0));
          counted += isNew;
        }
      }
      countedCount_ += counted;
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
    for (size_t i = 0; i < candidateCount_; i++) {
      const uint32_t document = scratch_.candidates[i];
      from = std::lower_bound(from, postings.end(), document << POSTING_DOCUMENT_SHIFT);
      if (from == postings.end()) return;
      if (*from >> POSTING_DOCUMENT_SHIFT == document) visit(*from, document);
    }
  }

  void sortCandidates();
  /// The least score that is wanted: of the last of the best so far, or of what other segments have.
  float kthBest(const Wanted& wanted);

  const TextSegment& segment_;
  const TextShard shard_;
  const bool acceptsAll_;
  MatchScratch& scratch_;
  size_t matchCount_ = 0;
  /// Matches that were counted without a score.
  size_t countedCount_ = 0;
  bool narrowed_ = false;
  size_t candidateCount_ = 0;
  /// Whether the candidates are in ascending order.
  bool sorted_ = false;
  /// The last result of `kthBest`.
  float kth_ = 0;
  /// Looking for candidates takes time, so it is not tried for every word.
  double narrowBelow_ = INFINITY;
};

}  // namespace tessera
