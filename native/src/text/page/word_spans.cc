#include "text/page/word_spans.hpp"

#include <algorithm>
#include <array>

#include "common/limits.hpp"
#include "text/page/symbol_names.hpp"
#include "text/segment/dictionary.hpp"

namespace tessera {

/// Typographic quotes, dashes and spaces: most of what English texts have besides ASCII. U+203C and
/// U+2049 are pictographs; U+2028 to U+202E are rare.
static bool isTypographic(char16_t unit) {
  if (unit < 0x2010 || unit > 0x205e) return unit == 0xa0;
  return unit != 0x203c && unit != 0x2049 && (unit < 0x2028 || unit > 0x202e);
}

/// Whether each ASCII character is a separator.
static constexpr auto ASCII_SEPARATORS = [] {
  std::array<bool, 0x80> separators{};
  for (char16_t unit = 0; unit < separators.size(); unit++) {
    const bool isLetter = (unit | 0x20) >= u'a' && (unit | 0x20) <= u'z';
    separators[unit] = !isLetter && (unit < u'0' || unit > u'9');
  }
  return separators;
}();

static bool isSeparator(char16_t unit) {
  return unit < 0x80 ? ASCII_SEPARATORS[unit] : isTypographic(unit);
}

uint8_t SegmentWords::wordOf(std::u16string_view token) const {
  const auto term = findTerm(segment_, token);
  return term ? marks_.wordOf()[*term] : 0;
}

void SegmentWords::each(const std::function<void(std::u16string_view)>& visit) const {
  marks_.each([&](uint32_t term) { visit(segment_.term(term)); });
}

uint8_t ViewWords::wordOf(std::u16string_view token) const {
  const auto [entry, isNew] = known_.try_emplace(std::u16string(token), uint8_t{0});
  if (isNew) entry->second = find(token);
  return entry->second;
}

/// What matches does not depend on the segment, so the first that matches the token decides.
uint8_t ViewWords::find(std::u16string_view token) const {
  for (size_t s = 0; s < segments_.size(); s++) {
    const auto term = findTerm(segments_[s], token);
    if (!term) continue;
    uint8_t best = 0;
    double most = 0;
    for (size_t w = 0; w < query_.words.size(); w++) {
      eachMatchOf(query_.words[w].planned->terms[s], [&](uint32_t match, double share) {
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

void ViewWords::each(const std::function<void(std::u16string_view)>& visit) const {
  for (size_t s = 0; s < segments_.size(); s++) {
    for (const QueryWord& word : query_.words) {
      eachMatchOf(word.planned->terms[s],
                  [&](uint32_t term, double) { visit(segments_[s].term(term)); });
    }
  }
}

ShownWords::ShownWords(const TokenWords& words, const TextQuery& query, double least,
                       const Tokenizer& tokenizer)
    : words_(words), query_(query), least_(least), tokenizer_(tokenizer) {
  words.each([&](std::u16string_view token) { starts_.set(startOf(token)); });
}

/// The lowest bits of the first units, which tell letters apart.
size_t ShownWords::startOf(std::u16string_view word) {
  size_t start = 0;
  for (size_t i = 0; i < START_CHARS; i++) {
    const size_t unit = i < word.size() ? word[i] : 0;
    start = start << START_BITS | (unit & ((size_t{1} << START_BITS) - 1));
  }
  return start;
}

static bool isHebrew(char16_t unit) { return unit >= 0x5d0 && unit <= 0x5ea; }

/// True for a quote within a Hebrew acronym.
static bool isGershayim(std::u16string_view text, size_t at) {
  return text[at] == u'"' && at > 0 && at + 1 < text.size() && isHebrew(text[at - 1]) &&
         isHebrew(text[at + 1]);
}

void ShownWords::find(std::u16string_view text, size_t from, size_t to,
                      std::vector<WordSpan>& spans) const {
  spans.clear();
  const std::u16string_view part = text.substr(0, std::min(to, text.size())).substr(from);
  SymbolNames names(part, tokenizer_);
  for (size_t i = 0; i < part.size();) {
    const size_t start = i;
    bool isAscii = true;
    for (; i < part.size() && (!isSeparator(part[i]) || (i > start && isGershayim(part, i))); i++) {
      isAscii = isAscii && part[i] < 0x80;
    }
    if (i == start) {
      i++;
      continue;
    }
    const std::u16string_view piece = part.substr(start, i - start);
    names.open(start);
    if (isAscii) {
      findAscii(piece, from + start, spans);
    } else {
      findOther(piece, from + start, spans);
    }
    names.close(start, i, [&](NameSpan name) {
      findAscii(part.substr(name.start, name.end - name.start), from + name.start, spans);
    });
  }
  // A name comes after its words, and may start before them.
  std::ranges::stable_sort(spans, {}, &WordSpan::start);
}

void ShownWords::findAscii(std::u16string_view piece, size_t offset,
                           std::vector<WordSpan>& spans) const {
  // Both cases of a letter have the same lowest bits.
  if (!starts_.test(startOf(piece))) return;
  char16_t lower[MAX_WORD_CHARS];
  const size_t length = std::min(piece.size(), MAX_WORD_CHARS);
  for (size_t i = 0; i < length; i++) {
    const bool isUpper = piece[i] >= u'A' && piece[i] <= u'Z';
    lower[i] = static_cast<char16_t>(isUpper ? piece[i] + 32 : piece[i]);
  }
  push({lower, length}, offset, offset + piece.size(), spans);
}

void ShownWords::findOther(std::u16string_view piece, size_t offset,
                           std::vector<WordSpan>& spans) const {
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
                         std::vector<WordSpan>& spans) const {
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

void ShownWords::push(std::u16string_view token, size_t start, size_t end,
                      std::vector<WordSpan>& spans) const {
  if (!starts_.test(startOf(token))) return;
  const uint8_t word = words_.wordOf(token);
  if (word != 0 && query_.words[word - 1u].weight >= least_) spans.push_back({start, end, word - 1u});
}

}  // namespace tessera
