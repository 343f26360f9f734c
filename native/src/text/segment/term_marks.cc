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

bool isWholeMatch(const TextQuery& query, size_t number, uint32_t term) {
  return std::ranges::any_of(query.words, [&](const QueryWord& word) {
    const SegmentTerms& terms = word.planned->terms[number];
    const auto isIn = [&](const auto& list) { return std::ranges::find(list, term, &TermMatch::term) != list.end(); };
    return isIn(terms.forms) || isIn(terms.others) || terms.longer.has(term);
  });
}

size_t TermMarks::startOf(std::span<const int32_t> tokens, size_t at) const {
  const auto term = static_cast<uint32_t>(tokens[at]);
  const PlannedWord& word = *query_.words[scratch_.wordOf[term] - 1u].planned;
  bool isPart = false;
  for (const ApartTerms& own : word.terms[number_].apart) {
    isPart = isPart || std::ranges::find(own.terms, term) != own.terms.end();
    const size_t length = own.terms.size();
    if (own.terms.back() != term || at + 1 < length) continue;
    // Marks separate the words of different passages.
    const auto isTerm = [](int32_t token, uint32_t each) { return token == static_cast<int32_t>(each); };
    if (std::ranges::equal(tokens.subspan(at + 1 - length, length), own.terms, isTerm)) return at + 1 - length;
  }
  return isPart ? NO_TOKEN : at;
}

bool TermMarks::isMatch(std::span<const int32_t> tokens, size_t at) const {
  const auto term = static_cast<uint32_t>(tokens[at]);
  return scratch_.wordOf[term] != 0 && (startOf(tokens, at) != NO_TOKEN || isWhole(term));
}

bool TermMarks::earnsBonus(uint32_t term) const {
  const PlannedWord& word = *query_.words[scratch_.wordOf[term] - 1u].planned;
  const SegmentTerms& terms = word.terms[number_];
  if (std::ranges::binary_search(terms.forms, term, {}, &TermMatch::term)) return true;
  if (terms.longer.has(term)) return word.longerEarnBonus;
  const auto other = std::ranges::find(terms.others, term, &TermMatch::term);
  return other == terms.others.end() || other->earnsBonus;
}

TermMarks::~TermMarks() {
  each(0, [&](uint32_t term) {
    scratch_.wordOf[term] = 0;
    scratch_.coverageOf[term] = 0;
  });
}

}  // namespace tessera
