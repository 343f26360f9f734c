#include "text/segment/term_marks.hpp"

#include <algorithm>

namespace tessera {

void MarkScratch::fit(size_t terms) {
  if (wordOf.size() >= terms) return;
  wordOf.assign(terms, 0);
  coverageOf.assign(terms, 0);
}

TermMarks::TermMarks(const TextSegment& segment, size_t number, const TextQuery& query,
                     MarkScratch& scratch)
    : segment_(segment), query_(query), number_(number), scratch_(scratch) {
  scratch.fit(segment.termCount());
  for (size_t w = 0; w < query.words.size(); w++) {
    const QueryWord& word = query.words[w];
    eachMatchOf(*word.planned, segment, number, [&](uint32_t term, double share) {
      // A term may match several words: it counts for the one that it covers most of.
      const auto coverage = static_cast<float>(share * word.weight);
      if (coverage <= scratch.coverageOf[term]) return;
      scratch.wordOf[term] = static_cast<uint8_t>(w + 1);
      scratch.coverageOf[term] = coverage;
    });
  }
}

bool TermMarks::earnsBonus(uint32_t term) const {
  const PlannedWord& word = *query_.words[scratch_.wordOf[term] - 1u].planned;
  const SegmentTerms& terms = word.terms[number_];
  return word.longerEarnBonus || !terms.longer.has(term) ||
         std::ranges::binary_search(terms.forms, term, {}, &TermMatch::term);
}

TermMarks::~TermMarks() {
  each(0, [&](uint32_t term) {
    scratch_.wordOf[term] = 0;
    scratch_.coverageOf[term] = 0;
  });
}

}  // namespace tessera
