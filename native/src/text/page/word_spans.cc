#include "text/page/word_spans.hpp"

#include <algorithm>

#include "common/limits.hpp"
#include "text/page/markdown_units.hpp"
#include "text/page/symbol_names.hpp"
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

/// What matches does not depend on the segment, so the first that matches the token decides.
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

ShownWords::ShownWords(const TokenWords& words, const TextQuery& query, double least,
                       const Tokenizer& tokenizer)
    : words_(words), query_(query), least_(least), tokenizer_(tokenizer) {
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
    return units_.each(part, wants, visit);
  }
  const auto any = [](char16_t) { return true; };
  findNames(part, from, spans, [&](const auto& each) { units_.each(part, any, each); });
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
    return;
  }
  findNames(text, 0, spans, [&](const auto& each) {
    for (size_t i = 0; i < divided.pieces.size(); i++) {
      const auto [start, end] = divided.pieces[i];
      each(start, end, divided.wordStarts[i] != DividedText::OTHER);
    }
  });
}

void ShownWords::findPiece(std::u16string_view piece, bool isAscii, size_t offset,
                           std::vector<WordSpan>& spans) {
  if (isAscii) {
    findAscii(piece, offset, spans);
  } else {
    findOther(piece, offset, spans);
  }
}

/// Finds the words and the names of a part of a text.
///
/// @param eachPiece calls what it is given with the start and the end of each piece, and whether it is ASCII
template <typename Pieces>
void ShownWords::findNames(std::u16string_view part, size_t offset, std::vector<WordSpan>& spans,
                           const Pieces& eachPiece) {
  SymbolNames names(part, tokenizer_);
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
  for (size_t i = 0; i < length; i++) {
    const bool isUpper = piece[i] >= u'A' && piece[i] <= u'Z';
    lower[i] = static_cast<char16_t>(isUpper ? piece[i] + 32 : piece[i]);
  }
  push({lower, length}, offset, offset + piece.size(), spans);
}

void ShownWords::findOther(std::u16string_view piece, size_t offset,
                           std::vector<WordSpan>& spans) {
  const auto kindOf = [&](size_t i) { return static_cast<UnitKind>(tokenizer_.kinds[piece[i]]); };
  for (size_t i = 0; i < piece.size(); i++) {
    if (kindOf(i) != UNKNOWN_UNIT && kindOf(i) != COMPLEX_UNIT) continue;
    for (const auto& [start, end, token] : tokenizer_.tokensOf(piece)) {
      push(token, offset + start, offset + end, spans);
    }
    return;
  }
  for (size_t start = 0; start < piece.size();) {
    const UnitKind kind = kindOf(start);
    size_t end = start + 1;
    while (end < piece.size() && kindOf(end) == kind) end++;
    if (kind != SEPARATOR_UNIT) findRun(piece.substr(start, end - start), kind, offset + start, spans);
    start = end;
  }
}

void ShownWords::findRun(std::u16string_view run, UnitKind kind, size_t offset,
                         std::vector<WordSpan>& spans) {
  std::u16string token;
  const auto fold = [&](size_t from, size_t to) {
    token.clear();
    for (size_t i = from; i < std::min(to, run.size()); i++) {
      token += static_cast<char16_t>(tokenizer_.folded[run[i]]);
    }
  };
  if (kind == SPACED_UNIT) {
    fold(0, MAX_WORD_CHARS);
    return push(token, offset, offset + run.size(), spans);
  }
  for (size_t i = 0; i < run.size(); i++) {
    fold(i, i + 2);
    push(token, offset + i, offset + std::min(i + 2, run.size()), spans);
  }
}

uint8_t ShownWords::wordOf(std::u16string_view token) {
  const auto known = known_.find(token);
  if (known != known_.end()) return known->second;
  const uint8_t word = words_.wordOf(token);
  known_.emplace(token, word);
  return word;
}

void ShownWords::push(std::u16string_view token, size_t start, size_t end,
                      std::vector<WordSpan>& spans) {
  if (!starts_.test(WordStart::of(token))) return;
  const uint8_t word = wordOf(token);
  if (word != 0 && query_.words[word - 1u].weight >= least_) spans.push_back({start, end, word - 1u});
}

}  // namespace tessera
