#include "text/query/score.hpp"

#include <algorithm>

#include "text/segment/frequency_code.hpp"
#include "text/segment/weights.hpp"

namespace tessera {

/// For functions that several loops call for every posting.
#define ALWAYS_INLINE __attribute__((always_inline))

/// The postings of common words that weigh less than this share of the query are not read.
static constexpr double NEGLIGIBLE_SHARE = 0.001;

void WordScores::fit(size_t documentCount) {
  scores.assign(documentCount, 0);
  // One more, because a document is written before it is known to be new.
  documents.resize(documentCount + 1);
}

void WordScores::clear() {
  for (size_t i = 0; i < count; i++) scores[documents[i]] = 0;
  count = 0;
}

void ScoreScratch::fit(size_t documents) {
  if (frequencies.size() >= documents) return;
  frequencies.assign(documents, 0);
  word.fit(documents);
  unfinished.fit(documents);
}

static constexpr auto SATURATION = static_cast<float>(K1);
static constexpr auto NORM = static_cast<float>(1 - CONTENT_B);

/// BM25 over weighted frequencies: `weight * frequency / (frequency + k1)`, where the frequency is
/// that in the other fields and, divided by the norm of the document's length, that in the content.
/// Frequencies are multiplied by the norm here, which leaves one division per score.
class SegmentScorer {
 public:
  SegmentScorer(const TextSegment& segment, const TextQuery& query, SegmentMatches& matches,
                ScoreScratch& scratch)
      : segment_(segment),
        slope_(static_cast<float>(CONTENT_B / query.averageLength)),
        matches_(matches),
        scratch_(scratch) {
    scratch.fit(segment.documentCount());
  }

  void add(const QueryWord& word, const SegmentTerms& terms, ScoringStep::Part part) {
    own_ = part == ScoringStep::WITHOUT_LONGER ? &scratch_.unfinished : &scratch_.word;
    if (part == ScoringStep::ONLY_LONGER) {
      scoreLonger(word, terms);
      addGains(scratch_.unfinished);
      return;
    }
    const bool hasOthers = !terms.others.empty() || !terms.apart.empty() || !terms.longer.empty();
    if (terms.forms.size() == 1 && !hasOthers) return scoreOnly(word, terms.forms[0]);
    for (const TermMatch& form : terms.forms) addFrequencies(word, form);
    if (!hasOthers) return addForms(word);
    scoreForms(word);
    for (const TermMatch& other : terms.others) {
      scoreOther(word, segment_.postingsOf(other.term), other.similarity);
    }
    for (const ApartTerms& apart : terms.apart) scoreOther(word, apart.postings, SPELLING_SIMILARITY);
    if (part == ScoringStep::WHOLE) scoreLonger(word, terms);
    for (size_t i = 0; i < own_->count; i++) {
      const uint32_t document = own_->documents[i];
      matches_.add(document, own_->scores[document]);
    }
    if (part == ScoringStep::WHOLE) own_->clear();
  }

 private:
  float normOf(uint32_t document) const {
    return NORM + slope_ * static_cast<float>(segment_.lengths[document]);
  }

  /// The frequency of a posting, multiplied by the norm.
  float frequency(uint32_t posting, float norm) const {
    const uint32_t code = posting & POSTING_CODE_MASK;
    return coded_.fields[code] * norm + coded_.content[code];
  }

  float saturated(float weight, float frequency, float norm) const {
    return weight * frequency / (frequency + SATURATION * norm);
  }

  /// Scores a word of a single form in one pass.
  void scoreOnly(const QueryWord& word, const TermMatch& form) {
    const auto similarity = static_cast<float>(form.similarity);
    // The word itself earns both weights for the same frequency.
    const double exactWeight = form.similarity == 1 ? word.exactWeight : 0;
    const auto weight = static_cast<float>(word.formWeight + exactWeight);
    const auto postings = segment_.postingsOf(form.term);
    matches_.eachPosting(postings, word.selective, [&](uint32_t posting, uint32_t document) ALWAYS_INLINE {
      const float norm = normOf(document);
      matches_.add(document, saturated(weight, similarity * frequency(posting, norm), norm));
    });
  }

  /// Adds the weighted frequencies of one form.
  void addFrequencies(const QueryWord& word, const TermMatch& form) {
    const auto similarity = static_cast<float>(form.similarity);
    const float exactWeight = form.similarity == 1 ? static_cast<float>(word.exactWeight) : 0;
    const auto postings = segment_.postingsOf(form.term);
    matches_.eachPosting(postings, word.selective, [&](uint32_t posting, uint32_t document) ALWAYS_INLINE {
      float& sum = scratch_.frequencies[document];
      own_->documents[own_->count] = document;
      own_->count += sum == 0;
      const float norm = normOf(document);
      const float own = frequency(posting, norm);
      sum += similarity * own;
      if (exactWeight > 0) own_->scores[document] = saturated(exactWeight, own, norm);
    });
  }

  /// Returns the score of all forms together and clears their frequency.
  float takeFormScore(float weight, uint32_t document) {
    float& sum = scratch_.frequencies[document];
    const float score = own_->scores[document] + saturated(weight, sum, normOf(document));
    sum = 0;
    return score;
  }

  void scoreForms(const QueryWord& word) {
    const auto weight = static_cast<float>(word.formWeight);
    for (size_t i = 0; i < own_->count; i++) {
      const uint32_t document = own_->documents[i];
      own_->scores[document] = takeFormScore(weight, document);
    }
  }

  /// Adds the scores of a word whose matches are all forms.
  void addForms(const QueryWord& word) {
    const auto weight = static_cast<float>(word.formWeight);
    for (size_t i = 0; i < own_->count; i++) {
      const uint32_t document = own_->documents[i];
      matches_.add(document, takeFormScore(weight, document));
      own_->scores[document] = 0;
    }
    own_->count = 0;
  }

  /// Only the best counts: the word's own forms, or one longer or misspelt word, or another spelling.
  void scoreOther(const QueryWord& word, std::span<const uint32_t> postings, double similarity) {
    const auto weight = static_cast<float>(similarity * word.otherWeight);
    matches_.eachPosting(postings, word.selective, [&](uint32_t posting, uint32_t document) ALWAYS_INLINE {
      keepBest(posting, document, weight);
    });
  }

  /// Has no branch, because the processor cannot predict which score is better.
  void keepBest(uint32_t posting, uint32_t document, float weight) {
    const float norm = normOf(document);
    float& best = own_->scores[document];
    own_->documents[own_->count] = document;
    own_->count += best == 0;
    best = std::max(best, saturated(weight, frequency(posting, norm), norm));
  }

  /// Adds the differences by which the word's own scores exceed the scores added before, and clears both.
  void addGains(WordScores& before) {
    for (size_t i = 0; i < own_->count; i++) {
      const uint32_t document = own_->documents[i];
      const float gain = own_->scores[document] - before.scores[document];
      if (gain > 0) matches_.add(document, gain);
    }
    own_->clear();
    before.clear();
  }

  void scoreLonger(const QueryWord& word, const SegmentTerms& terms) {
    if (terms.longer.empty()) return;
    if (matches_.isNarrowed()) return scoreLongerOfCandidates(word, terms);
    auto form = terms.forms.begin();
    for (uint32_t term = terms.longer.from; term < terms.longer.to; term++) {
      while (form != terms.forms.end() && form->term < term) form++;
      if (form != terms.forms.end() && form->term == term) continue;
      scoreOther(word, segment_.postingsOf(term), longerSimilarity(word, term));
    }
  }

  double longerSimilarity(const QueryWord& word, uint32_t term) const {
    return word.planned->similarityOfLonger(segment_.termLength(term));
  }

  /// Few postings of the longer terms belong to a candidate. So the postings are read in one run, or the tokens
  /// of the candidates are read instead if they are fewer.
  void scoreLongerOfCandidates(const QueryWord& word, const SegmentTerms& terms) {
    const auto postings = segment_.postingsOf(terms.longer);
    if (word.selective) matches_.count(postings);
    const auto score = [&](const uint32_t& posting, uint32_t document, uint32_t term) {
      if (std::ranges::binary_search(terms.forms, term, {}, &TermMatch::term)) return;
      keepBest(posting, document, static_cast<float>(longerSimilarity(word, term) * word.otherWeight));
    };
    size_t tokens = 0;
    for (const uint32_t document : matches_.candidates()) tokens += segment_.tokensOf(document).size();
    if (tokens > postings.size()) {
      matches_.eachOfCandidates(postings, [&](const uint32_t& posting, uint32_t document) {
        score(posting, document, segment_.termOf(posting));
      });
      return;
    }
    for (const uint32_t document : matches_.candidates()) {
      for (const int32_t token : segment_.tokensOf(document)) {
        const auto term = static_cast<uint32_t>(token);
        if (terms.longer.has(term)) score(segment_.postingOf(term, document), document, term);
      }
    }
  }

  const TextSegment& segment_;
  const CodedFrequencies& coded_ = codedFrequencies();
  /// The norm of a document is `NORM + slope_ * length`.
  const float slope_;
  SegmentMatches& matches_;
  ScoreScratch& scratch_;
  /// Of the current word.
  WordScores* own_ = nullptr;
};

/// The word whose longer words are scored later: the last one with longer words, because memory holds only one.
static const QueryWord* unfinishedWord(const TextQuery& query) {
  const auto hasLonger = [](const QueryWord& word) {
    return std::ranges::any_of(word.planned->terms,
                               [](const SegmentTerms& terms) { return !terms.longer.empty(); });
  };
  const auto last = std::find_if(query.words.rbegin(), query.words.rend(), hasLonger);
  return last == query.words.rend() ? nullptr : &*last;
}

std::vector<ScoringStep> scoringOrder(const TextQuery& query) {
  const double negligible = NEGLIGIBLE_SHARE * query.maxScore;
  const QueryWord* const unfinished = unfinishedWord(query);
  std::vector<ScoringStep> order;
  for (size_t w = 0; w < query.words.size(); w++) {
    const QueryWord& word = query.words[w];
    if (!word.selective && word.weight <= negligible) continue;
    if (&word == unfinished) {
      order.push_back({w, ScoringStep::WITHOUT_LONGER, word.weight, word.otherWeight});
      order.push_back({w, ScoringStep::ONLY_LONGER, word.otherWeight, 0});
    } else {
      order.push_back({w, ScoringStep::WHOLE, word.weight, 0});
    }
  }
  std::ranges::stable_sort(order, [&](const ScoringStep& a, const ScoringStep& b) {
    const bool first = query.words[a.word].selective, second = query.words[b.word].selective;
    return first != second ? first : a.weight > b.weight;
  });
  return order;
}

void scoreSegment(const TextSegment& segment, size_t number,
                  const TextQuery& query, std::span<const ScoringStep> order, const Wanted& wanted,
                  SegmentMatches& matches, ScoreScratch& scratch) {
  SegmentScorer scorer(segment, query, matches, scratch);
  double left = 0;
  for (const ScoringStep& step : order) left += step.weight - step.left;
  double done = 0;
  for (const ScoringStep& step : order) {
    // The best score so far is at most `done`. Until it exceeds `left`, no document can be excluded.
    if (left < std::max(done, wanted.least)) matches.narrow(left, wanted);
    const QueryWord& word = query.words[step.word];
    scorer.add(word, word.planned->terms[number], step.part);
    done += step.weight;
    left += step.left - step.weight;
  }
}

#undef ALWAYS_INLINE

}  // namespace tessera
