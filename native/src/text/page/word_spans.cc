#include "text/page/word_spans.hpp"

#include <algorithm>

#include "common/limits.hpp"
#include "text/analysis/symbol_names.hpp"
#include "text/analysis/words.hpp"
#include "text/page/markdown_units.hpp"
#include "text/segment/dictionary.hpp"

namespace tessera {

uint8_t SegmentWords::wordOf(std::u16string_view token) const {
  const auto term = findTerm(segment_, token);
  return term ? marks_.wordOf()[*term] : 0;
}

void SegmentWords::each(double least,
                        const std::function<void(std::u16string_view)>& visit) const {
  marks_.each(least, [&](uint32_t term) { visit(segment_.term(term)); });
}

/// A token matches the same word in every segment, so the first segment with a match decides.
uint8_t ViewWords::wordOf(std::u16string_view token) const {
  for (size_t s = 0; s < segments_.size(); s++) {
    const auto term = findTerm(segments_[s], token);
    if (!term) continue;
    uint8_t best = 0;
    double most = 0;
    for (size_t w = 0; w < query_.words.size(); w++) {
      eachMatchOf(*query_.words[w].planned, segments_[s], s, [&](uint32_t match, double share) {
        const double coverage = share * query_.words[w].weight;
        if (match != *term || coverage <= most) return;
        best = static_cast<uint8_t>(w + 1);
        most = coverage;
      });
    }
    if (best != 0) return best;
  }
  return 0;
}

void ViewWords::each(double least, const std::function<void(std::u16string_view)>& visit) const {
  for (size_t s = 0; s < segments_.size(); s++) {
    for (const QueryWord& word : query_.words) {
      if (word.weight < least) continue;
      eachMatchOf(*word.planned, segments_[s], s,
                  [&](uint32_t term, double) { visit(segments_[s].term(term)); });
    }
  }
}

bool SegmentWords::isWhole(std::u16string_view token) const {
  const auto term = findTerm(segment_, token);
  return term && marks_.isWhole(*term);
}

bool ViewWords::isWhole(std::u16string_view token) const {
  for (size_t s = 0; s < segments_.size(); s++) {
    const auto term = findTerm(segments_[s], token);
    if (term && isWholeMatch(query_, s, *term)) return true;
  }
  return false;
}

/// Adds a word with the texts of its parts, unless it is known.
static void addApart(std::vector<ApartWord>& all, const TextSegment& segment, size_t word,
                     std::span<const uint32_t> terms) {
  ApartWord own{word, {}};
  for (const uint32_t term : terms) own.parts.emplace_back(segment.term(term));
  if (std::ranges::find(all, own) == all.end()) all.push_back(std::move(own));
}

std::vector<ApartWord> SegmentWords::apart(double least) const {
  std::vector<ApartWord> all;
  marks_.eachApart(least, [&](size_t word, const auto& terms) { addApart(all, segment_, word, terms); });
  return all;
}

std::vector<ApartWord> ViewWords::apart(double least) const {
  std::vector<ApartWord> all;
  for (size_t w = 0; w < query_.words.size(); w++) {
    if (query_.words[w].weight < least) continue;
    for (size_t s = 0; s < segments_.size(); s++) {
      for (const ApartTerms& own : query_.words[w].planned->terms[s].apart) addApart(all, segments_[s], w, own.terms);
    }
  }
  return all;
}

ShownWords::ShownWords(const TokenWords& words, const TextQuery& query, double least)
    : words_(words), query_(query), least_(least), apart_(words.apart(least)) {
  words.each(least, [&](std::u16string_view token) {
    starts_.set(WordStart::of(token));
    if (!token.empty()) firsts_.set(WordStart::ofUnit(token[0]));
    hasNames_ = hasNames_ || !std::ranges::all_of(token, isWord);
  });
}

void ShownWords::find(std::u16string_view text, size_t from, size_t to,
                      std::vector<WordSpan>& spans) {
  spans.clear();
  const std::u16string_view part = text.substr(0, std::min(to, text.size())).substr(from);
  units_.read(part);
  const auto visit = [&](size_t start, size_t end, bool isAscii) {
    findPiece(part.substr(start, end - start), isAscii, from + start, spans);
  };
  if (!hasNames_) {
    const auto wants = [&](char16_t first) { return firsts_.test(WordStart::ofUnit(first)); };
    units_.each(part, wants, visit);
  } else {
    const auto any = [](char16_t) { return true; };
    findNames(part, from, spans, [&](const auto& each) { units_.each(part, any, each); });
  }
  joinParts(text, spans);
  addSpellings(part, from, spans);
}

void ShownWords::find(const DividedText& divided, std::vector<WordSpan>& spans) {
  spans.clear();
  const std::u16string_view text = divided.text;
  if (!hasNames_) {
    for (size_t i = 0; i < divided.wordStarts.size(); i++) {
      const bool isAscii = divided.wordStarts[i] != DividedText::OTHER;
      if (isAscii && !starts_.test(divided.wordStarts[i])) continue;
      const auto [start, end] = divided.pieces[i];
      findPiece(text.substr(start, end - start), isAscii, start, spans);
    }
  } else {
    findNames(text, 0, spans, [&](const auto& each) {
      for (size_t i = 0; i < divided.pieces.size(); i++) {
        const auto [start, end] = divided.pieces[i];
        each(start, end, divided.wordStarts[i] != DividedText::OTHER);
      }
    });
  }
  joinParts(text, spans);
  addSpellings(text, 0, spans);
}

const ApartWord* ShownWords::apartAt(std::u16string_view text, std::span<const WordSpan> spans) const {
  const auto isSeparator = [&](char16_t unit) {
    return unit < 0x80 ? !isDigit(unit) && !isLetter(unit) : tokenizer_.kindOf(unit) == SEPARATOR_UNIT;
  };
  const auto isGap = [&](size_t from, size_t to) {
    return from <= to && std::ranges::all_of(text.substr(from, to - from), isSeparator);
  };
  for (const ApartWord& own : apart_) {
    size_t found = 0;
    for (; found < own.parts.size() && found < spans.size(); found++) {
      const WordSpan& span = spans[found];
      if (span.token->first != own.parts[found] || (found > 0 && !isGap(spans[found - 1].end, span.start))) break;
    }
    if (found == own.parts.size()) return &own;
  }
  return nullptr;
}

/// Joins the parts of words that are written apart, and removes parts that stand alone.
void ShownWords::joinParts(std::u16string_view text, std::vector<WordSpan>& spans) const {
  if (apart_.empty()) return;
  std::vector<WordSpan> joined;
  for (size_t i = 0; i < spans.size();) {
    const ApartWord* own = spans[i].token->second.isPart ? apartAt(text, std::span(spans).subspan(i)) : nullptr;
    const size_t end = i + (own == nullptr ? 1 : own->parts.size());
    if (own != nullptr) joined.push_back({spans[i].start, spans[end - 1].end, own->word, nullptr});
    for (; i < end; i++) {
      const auto& [token, match] = *spans[i].token;
      if (!match.isPart || words_.isWhole(token)) joined.push_back(spans[i]);
    }
  }
  spans = std::move(joined);
}

bool ShownWords::readSpellings(const TextSegment& segment, uint32_t document) {
  const auto tokens = segment.tokensOf(document);
  const auto isWanted = [&](int32_t term) {
    const auto token = segment.term(static_cast<uint32_t>(term));
    return starts_.test(WordStart::of(token)) && known(token).second.word != 0;
  };
  hasSpellings_ = false;
  // The content is the last field, and its spellings follow its tokens.
  for (size_t end = tokens.size(), i = end; i-- > 0 && !hasSpellings_;) {
    if (tokens[i] >= 0) continue;
    if (tokens[i] < FIRST_INNER_MARK) break;
    if (tokens[i] == JOINED_MARK) hasSpellings_ = std::ranges::any_of(tokens.subspan(i + 1, end - i - 1), isWanted);
    end = i;
  }
  return hasSpellings_;
}

/// Adds the spellings in parts and the signs of a part of a text, if some of them match in its document.
void ShownWords::addSpellings(std::u16string_view part, size_t offset, std::vector<WordSpan>& spans) {
  if (!hasSpellings_) return;
  for (const auto& [start, end, token] : tokenizer_.spellingsOf(part)) {
    push(token, offset + start, offset + end, spans);
  }
  std::ranges::stable_sort(spans, {}, &WordSpan::start);
}

void ShownWords::findPiece(std::u16string_view piece, bool isAscii, size_t offset,
                           std::vector<WordSpan>& spans) {
  if (isAscii) return findAscii(piece, offset, spans);
  tokenizer_.eachToken(piece, [&](std::u16string_view token, size_t start, size_t end) {
    push(token, offset + start, offset + end, spans);
  });
}

/// Finds the words and the names of a part of a text.
///
/// @param eachPiece function that calls its argument with the start and end of each piece, and whether it is ASCII
template <typename Pieces>
void ShownWords::findNames(std::u16string_view part, size_t offset, std::vector<WordSpan>& spans,
                           const Pieces& eachPiece) {
  SymbolNames names(part);
  eachPiece([&](size_t start, size_t end, bool isAscii) {
    names.open(start);
    findPiece(part.substr(start, end - start), isAscii, offset + start, spans);
    names.close(start, end, [&](NameSpan name) {
      findAscii(part.substr(name.start, name.end - name.start), offset + name.start, spans);
    });
  });
  // A name comes after its words, and may start before them.
  std::ranges::stable_sort(spans, {}, &WordSpan::start);
}

void ShownWords::findAscii(std::u16string_view piece, size_t offset,
                           std::vector<WordSpan>& spans) {
  // Both cases of a letter have the same lowest bits.
  if (!starts_.test(WordStart::of(piece))) return;
  char16_t lower[MAX_WORD_CHARS];
  const size_t length = std::min(piece.size(), MAX_WORD_CHARS);
  std::ranges::transform(piece.substr(0, length), lower, lowerAscii);
  push({lower, length}, offset, offset + piece.size(), spans);
}

const KnownToken& ShownWords::known(std::u16string_view token) {
  const auto found = known_.find(token);
  if (found != known_.end()) return *found;
  const bool isPart = std::ranges::any_of(
      apart_, [&](const ApartWord& own) { return std::ranges::find(own.parts, token) != own.parts.end(); });
  return *known_.emplace(token, TokenMatch{words_.wordOf(token), isPart}).first;
}

void ShownWords::push(std::u16string_view token, size_t start, size_t end,
                      std::vector<WordSpan>& spans) {
  if (!starts_.test(WordStart::of(token))) return;
  const KnownToken& own = known(token);
  const uint8_t word = own.second.word;
  if (word != 0 && query_.words[word - 1u].weight >= least_) spans.push_back({start, end, word - 1u, &own});
}

}  // namespace tessera
