#include "text/query/apart.hpp"

#include <algorithm>
#include <bit>

#include "text/query/stem_forms.hpp"
#include "text/segment/dictionary.hpp"
#include "text/segment/frequency_code.hpp"
#include "text/segment/weights.hpp"

namespace tessera {

namespace {

using Parts = std::vector<std::u16string_view>;

/// The parts of a word that is cut before these units.
Parts partsOf(std::u16string_view word, uint32_t cuts) {
  Parts parts;
  size_t start = 0;
  for (; cuts != 0; cuts &= cuts - 1) {
    const auto cut = static_cast<size_t>(std::countr_zero(cuts));
    if (cut >= word.size()) break;
    parts.push_back(word.substr(start, cut - start));
    start = cut;
  }
  parts.push_back(word.substr(start));
  return parts;
}

double frequencyOf(uint32_t posting) {
  const uint32_t code = posting & POSTING_CODE_MASK;
  return double{codedFrequencies().content[code]} + double{codedFrequencies().fields[code]};
}

/// For each document in scope that holds all of some terms, the posting of the rarest of them there.
std::vector<uint32_t> sharedPostings(const TextSegment& segment, std::span<const uint32_t> terms) {
  const auto count = [&](uint32_t term) { return segment.postingsOf(term).size(); };
  const auto all = segment.postingsOf(std::ranges::min(terms, {}, count));
  std::vector<uint32_t> shared;
  for (const uint32_t posting : all) {
    if (segment.inScope.has(posting >> POSTING_DOCUMENT_SHIFT)) shared.push_back(posting);
  }
  for (const uint32_t term : terms) {
    const auto postings = segment.postingsOf(term);
    auto from = postings.begin();
    std::erase_if(shared, [&](uint32_t& posting) {
      const uint32_t document = posting >> POSTING_DOCUMENT_SHIFT;
      from = std::lower_bound(from, postings.end(), document << POSTING_DOCUMENT_SHIFT);
      if (from == postings.end() || *from >> POSTING_DOCUMENT_SHIFT != document) return true;
      if (frequencyOf(*from) < frequencyOf(posting)) posting = *from;
      return false;
    });
  }
  return shared;
}

class ApartFinder {
 public:
  explicit ApartFinder(const TextView& view)
      : view_(view), segments_(view.segments()), found_(segments_.size()) {}

  void add(const Parts& parts) {
    std::vector<std::vector<uint32_t>> heads(segments_.size());
    bool isHeld = false;
    for (size_t s = 0; s < segments_.size(); s++) {
      heads[s] = headTerms(segments_[s], parts);
      isHeld = isHeld || !heads[s].empty();
    }
    if (!isHeld) return;
    const auto lasts = formsOf(view_, parts.back(), parts.back());
    std::vector<std::vector<ApartTerms>> candidates(segments_.size());
    size_t tokens = 0;
    for (size_t s = 0; s < segments_.size(); s++) {
      if (heads[s].empty()) continue;
      for (const uint32_t last : lasts[s]) {
        ApartTerms& own = candidates[s].emplace_back(heads[s]);
        own.terms.push_back(last);
        own.postings = sharedPostings(segments_[s], own.terms);
        for (const uint32_t posting : own.postings) tokens += tokensAt(s, posting).size();
      }
    }
    if (tokens > left_) return;
    left_ -= tokens;
    for (size_t s = 0; s < segments_.size(); s++) {
      for (ApartTerms& own : candidates[s]) keepTogether(s, own);
    }
  }

  std::vector<std::vector<ApartTerms>> take() { return std::move(found_); }

 private:
  /// The terms that are all parts but the last; empty if the segment has not all of them.
  static std::vector<uint32_t> headTerms(const TextSegment& segment, const Parts& parts) {
    std::vector<uint32_t> terms;
    for (size_t p = 0; p + 1 < parts.size(); p++) {
      const auto term = findTerm(segment, parts[p]);
      if (!term) return {};
      terms.push_back(*term);
    }
    return terms;
  }

  std::span<const int32_t> tokensAt(size_t segment, uint32_t posting) const {
    return segments_[segment].tokensOf(posting >> POSTING_DOCUMENT_SHIFT);
  }

  /// Keeps the documents in which the terms follow each other.
  void keepTogether(size_t segment, ApartTerms& own) {
    std::erase_if(own.postings,
                  [&](uint32_t posting) { return !areTogether(tokensAt(segment, posting), own.terms); });
    if (!own.postings.empty()) found_[segment].push_back(std::move(own));
  }

  /// Whether the terms follow each other. The subwords of an identifier do so for the identifier itself.
  static bool areTogether(std::span<const int32_t> tokens, std::span<const uint32_t> terms) {
    const auto isTerm = [](int32_t token, uint32_t term) { return token == static_cast<int32_t>(term); };
    for (auto from = tokens.begin();;) {
      const auto found = std::search(from, tokens.end(), terms.begin(), terms.end(), isTerm);
      if (found == tokens.end()) return false;
      auto mark = found;
      while (mark != tokens.begin() && *mark >= 0) mark--;
      if (*mark != SUBWORDS_MARK) return true;
      from = std::find_if(found, tokens.end(), [](int32_t token) { return token < 0; });
    }
  }

  const TextView& view_;
  const std::span<const TextSegment> segments_;
  std::vector<std::vector<ApartTerms>> found_;
  /// The tokens that may still be read for the word, however many cuts it has.
  size_t left_ = APART_MAX_TOKENS;
};

}  // namespace

std::vector<std::vector<ApartTerms>> apartTerms(const TextView& view, const AnalysedWord& word) {
  ApartFinder finder(view);
  const bool isEnglish = std::ranges::all_of(view.languages(), [](uint8_t language) { return language == ENGLISH; });
  const uint32_t pairs = word.pairs | (isEnglish ? word.englishPairs : 0);
  for (uint32_t left = pairs; left != 0; left &= left - 1) finder.add(partsOf(word.text, left & -left));
  // A single cut is a pair, too.
  if (word.parts != 0 && (!std::has_single_bit(word.parts) || (pairs & word.parts) == 0)) finder.add(partsOf(word.text, word.parts));
  return finder.take();
}

}  // namespace tessera
