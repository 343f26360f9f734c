#include "text/query/plan_word.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "text/segment/dictionary.hpp"
#include "text/query/apart.hpp"
#include "text/query/compound.hpp"
#include "text/query/fuzzy.hpp"
#include "text/query/stem_forms.hpp"
#include "text/segment/weights.hpp"

namespace tessera {

double idfOf(size_t documents, size_t frequency) {
  const auto held = static_cast<double>(std::min(frequency, documents));
  return std::log(1 + (static_cast<double>(documents) - held + 0.5) / (held + 0.5));
}

namespace {

/// A term that matches in several ways counts with the best similarity.
void addOther(SegmentTerms& terms, const TermMatch& match) {
  for (auto* list : {&terms.forms, &terms.others}) {
    const auto known = std::ranges::find(*list, match.term, &TermMatch::term);
    if (known == list->end()) continue;
    known->similarity = std::max(known->similarity, match.similarity);
    known->coverage = std::max(known->coverage, match.coverage);
    known->earnsBonus = known->earnsBonus || match.earnsBonus;
    return;
  }
  terms.others.push_back(match);
}

std::u16string digitsOf(std::u16string_view word) {
  std::u16string digits;
  std::ranges::copy_if(word, std::back_inserter(digits), [](char16_t unit) { return unit >= u'0' && unit <= u'9'; });
  return digits;
}

class WordPlanner {
 public:
  WordPlanner(const TextView& view, const AnalysedWord& word)
      : view_(view), segments_(view.segments()), word_(word) {
    planned_.length = word.text.size();
    planned_.terms.resize(segments_.size());
  }

  PlannedWord plan() {
    addForms();
    if (word_.isCharacter || word_.isPrefix) addLonger();
    if ((word_.pairs | word_.englishPairs | word_.parts) != 0) addApart();
    planned_.isHeld = formFrequency_ + longerFrequency_ + apartFrequency_ > 0;
    if (word_.mayBeMisspelt) planned_.parts = compoundParts(view_, word_.text);
    // A word that consists of known words is probably a compound, not a misspelling.
    if (word_.mayBeMisspelt && planned_.parts.empty() && apartFrequency_ == 0 && isRare()) addMeant();
    weigh();
    return std::move(planned_);
  }

 private:
  /// The word itself and all terms of its stem.
  void addForms() {
    const auto terms = formsOf(view_, word_.text, word_.raw);
    for (size_t s = 0; s < segments_.size(); s++) {
      auto& forms = planned_.terms[s].forms;
      for (const uint32_t term : terms[s]) {
        const size_t frequency = view_.frequencyOf(s, {term, term + 1});
        if (frequency == 0) continue;
        const bool isExact = segments_[s].term(term) == word_.text;
        formFrequency_ += frequency;
        if (isExact) exactFrequency_ += frequency;
        forms.push_back(isExact ? TermMatch{term, 1, 1}
                                : TermMatch{term, STEM_SIMILARITY, STEM_COVERAGE});
      }
    }
  }

  /// Longer terms that begin with the word: a range of the dictionary.
  void addLonger() {
    for (size_t s = 0; s < segments_.size(); s++) {
      const TextSegment& segment = segments_[s];
      Range range = termsFrom(segment, word_.text);
      if (!range.empty() && segment.termLength(range.from) == word_.text.size()) range.from++;
      if (range.empty()) continue;
      const size_t frequency = view_.frequencyOf(s, range);
      if (frequency == 0) continue;
      longerFrequency_ += frequency;
      planned_.terms[s].longer = range;
    }
    weighLonger();
  }

  /// A word that documents hold counts as whole, unless far more documents hold longer words.
  void weighLonger() {
    const bool isWhole = formFrequency_ * WHOLE_WORD_LONGER_MAX >= std::max<size_t>(longerFrequency_, 1);
    if (word_.isCharacter) {
      planned_.longerSimilarity = CHARACTER_SIMILARITY;
    } else if (!isWhole) {
      planned_.longerSimilarity = PREFIX_SIMILARITY;
      planned_.longerEarnBonus = word_.isBeingTyped;
    } else if (word_.isBeingTyped) {
      planned_.longerSimilarity = PREFIX_SIMILARITY_BESIDE_FORMS;
      planned_.longerEarnBonus = false;
    } else {
      longerFrequency_ = 0;
      for (SegmentTerms& terms : planned_.terms) terms.longer = {};
    }
  }

  /// Spellings as several words: `time zone` for `timezone`.
  void addApart() {
    auto found = apartTerms(view_, word_);
    for (size_t s = 0; s < segments_.size(); s++) {
      planned_.terms[s].apart = std::move(found[s]);
      for (const ApartTerms& own : planned_.terms[s].apart) apartFrequency_ += own.postings.size();
    }
  }

  /// Whether few documents hold the word, so that they may have misspelt it as well. Other forms do not count, because
  /// a misspelling can share its stem with another word.
  bool isRare() const {
    const double most = std::max(1.0, MISSPELT_MAX_SHARE * static_cast<double>(view_.documents()));
    return static_cast<double>(exactFrequency_ + longerFrequency_) <= most;
  }

  /// Words that a misspelt word may mean, each with the rest of its stem group. A word that documents hold can mean
  /// only words of many more documents and with the same digits: `QX7742` is not a typo in them. These words earn no
  /// bonus, so that a title with `start` does not outrank the only text with `smart`.
  void addMeant() {
    const size_t least = MEANT_MIN_RATIO * (exactFrequency_ + longerFrequency_);
    for (const std::u16string& meant : wordsAtOneTypo(view_, word_.text, least)) {
      if (least > 0 && (isForm(meant) || digitsOf(meant) != digitsOf(word_.text))) continue;
      const bool sameFirst = meant.front() == word_.text.front();
      const double similarity = (sameFirst ? FUZZY_SIMILARITY : FUZZY_FIRST_LETTER_SIMILARITY) *
                                (least > 0 ? MEANT_BESIDE_HELD_SHARE : 1);
      const auto terms = formsOf(view_, meant, meant);
      for (size_t s = 0; s < segments_.size(); s++) {
        for (const uint32_t term : terms[s]) {
          const size_t frequency = view_.frequencyOf(s, {term, term + 1});
          if (frequency == 0) continue;
          meantFrequency_ += frequency;
          const bool isMeant = segments_[s].term(term) == meant;
          addOther(planned_.terms[s],
                   isMeant ? TermMatch{term, similarity, FUZZY_COVERAGE, least == 0}
                           : TermMatch{term, similarity * FUZZY_STEM_SIMILARITY,
                                       FUZZY_COVERAGE * STEM_COVERAGE, least == 0});
        }
      }
    }
  }

  bool isForm(std::u16string_view word) const {
    for (size_t s = 0; s < segments_.size(); s++) {
      const auto& forms = planned_.terms[s].forms;
      const auto isIt = [&](const TermMatch& form) { return segments_[s].term(form.term) == word; };
      if (std::ranges::any_of(forms, isIt)) return true;
    }
    return false;
  }

  /// Turns frequencies into weights. All forms of a word share one document frequency, and so do all
  /// terms, so that a rare neighbour never counts more than the word itself.
  void weigh() {
    const auto idf = [&](size_t frequency, double otherwise) {
      return frequency == 0 ? otherwise : idfOf(view_.documents(), frequency);
    };
    planned_.frequency = formFrequency_ + longerFrequency_ + apartFrequency_ + meantFrequency_;
    planned_.otherWeight = idf(planned_.frequency, 0);
    planned_.formWeight = idf(formFrequency_, planned_.otherWeight);
    const double exact = idf(exactFrequency_, planned_.formWeight);
    planned_.exactWeight = EXACT_FORM_SHARE * (exact - planned_.formWeight);
    planned_.weight = planned_.formWeight + planned_.exactWeight;
  }

  const TextView& view_;
  std::span<const TextSegment> segments_;
  const AnalysedWord& word_;
  PlannedWord planned_;
  size_t exactFrequency_ = 0;
  size_t formFrequency_ = 0;
  size_t longerFrequency_ = 0;
  size_t apartFrequency_ = 0;
  size_t meantFrequency_ = 0;
};

}  // namespace

PlannedWord planWord(const TextView& view, const AnalysedWord& word) {
  return WordPlanner(view, word).plan();
}

PlannedWord withJoined(const TextView& view, const PlannedWord& word, std::span<const std::vector<uint32_t>> terms) {
  PlannedWord planned = word;
  bool hasForms = false;
  for (size_t s = 0; s < terms.size(); s++) {
    hasForms = hasForms || !planned.terms[s].forms.empty();
    for (const uint32_t term : terms[s]) {
      planned.frequency += view.frequencyOf(s, {term, term + 1});
      addOther(planned.terms[s], {term, SPELLING_SIMILARITY, SPELLING_COVERAGE});
    }
  }
  planned.otherWeight = idfOf(view.documents(), planned.frequency);
  if (!hasForms) planned.weight = planned.formWeight = planned.otherWeight;
  return planned;
}

}  // namespace tessera
