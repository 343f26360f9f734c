#include "text/segment/term_marks.hpp"

namespace tessera {

void MarkScratch::fit(size_t terms) {
  if (wordOf.size() >= terms) return;
  wordOf.assign(terms, 0);
  coverageOf.assign(terms, 0);
}

TermMarks::TermMarks(const TextSegment& segment, size_t number, const TextQuery& query,
                     MarkScratch& scratch)
    : query_(query), number_(number), scratch_(scratch) {
  scratch.fit(segment.termCount());
  for (size_t w = 0; w < query.words.size(); w++) {
    const QueryWord& word = query.words[w];
    eachMatchOf(word.planned->terms[number], [&](uint32_t term, double share) {
      // A term may match several words: it counts for the one that it covers most of.
      const auto coverage = static_cast<float>(share * word.weight);
      if (coverage <= scratch.coverageOf[term]) return;
      scratch.wordOf[term] = static_cast<uint8_t>(w + 1);
      scratch.coverageOf[term] = coverage;
    });
  }
}

TermMarks::~TermMarks() {
  each(0, [&](uint32_t term) {
    scratch_.wordOf[term] = 0;
    scratch_.coverageOf[term] = 0;
  });
}

}  // namespace tessera
