#include "text/page/snippet.hpp"

#include <algorithm>
#include <cmath>

#include "common/limits.hpp"
#include "text/segment/weights.hpp"

namespace tessera {

namespace {

/// About the number of words in a snippet.
constexpr double WINDOW_TOKENS = 30;
/// Text that is searched for the words of the window: its place in a block is an estimate.
constexpr double REGION_CHARS = 1.75 * MAX_SNIPPET_CHARS;
/// Text before the first match.
constexpr double LEAD_CHARS = MAX_SNIPPET_CHARS / 4.0;
/// Words that weigh less than this share of the weightiest one, such as "a", are not marked.
constexpr double MARKED_MIN_SHARE = 0.1;
/// The gain of a word that the window already contains.
constexpr double REPEATED_SHARE = 0.1;
/// How far a cut moves to find a space.
constexpr size_t CUT_REACH = 24;
constexpr char16_t ELLIPSIS = u'…';
/// More than rounding errors of weights.
constexpr double ROUNDING = 1e-9;

using Text = std::u16string_view;

/// The first start of a word at or after the position; the start of a character if no word is near.
size_t wordStart(Text text, double position) {
  if (position < 1) return 0;
  const auto at = std::min(text.size(), static_cast<size_t>(position));
  const size_t space = text.substr(at - 1, CUT_REACH + 1).find(u' ');
  return space == Text::npos ? Tokenizer::instance().characterStart(text, at) : at + space;
}

/// The last end of a word at or before the position; the end of a character if no word is near.
size_t wordEnd(Text text, size_t position) {
  if (position >= text.size()) return text.size();
  const size_t space = text.substr(position - CUT_REACH, CUT_REACH + 1).rfind(u' ');
  return space == Text::npos ? Tokenizer::instance().characterStart(text, position) : position - CUT_REACH + space;
}

/// Cuts at words, and marks a cut with an ellipsis.
void cut(Text text, std::span<const WordSpan> spans, double wanted,
         Snippet& snippet) {
  const size_t start = wordStart(text, wanted);
  const size_t end = wordEnd(text, start + MAX_SNIPPET_CHARS);
  snippet.text.clear();
  snippet.matches.clear();
  if (start > 0) snippet.text += ELLIPSIS;
  const size_t lead = snippet.text.size();
  snippet.text += text.substr(start, end - start);
  if (end < text.size()) snippet.text += ELLIPSIS;
  for (const WordSpan& span : spans) {
    if (span.start < start || span.end > end) continue;
    const size_t from = span.start - start + lead, to = span.end - start + lead;
    // Pairs of characters overlap in scripts without word spaces, and names overlap with their words.
    if (!snippet.matches.empty() && from <= snippet.matches.back().second) {
      snippet.matches.back().second = std::max(to, snippet.matches.back().second);
    } else {
      snippet.matches.emplace_back(from, to);
    }
  }
}

}  // namespace

double leastShown(const TextQuery& query) {
  double most = 0;
  for (const QueryWord& word : query.words) most = std::max(most, word.weight);
  return MARKED_MIN_SHARE * most;
}

WordWindow densestWindow(std::span<const FoundWord> found, const TextQuery& query, double width,
                         std::vector<uint32_t>& counts) {
  const auto weightOf = [&](size_t word) { return query.words[word].weight; };
  counts.assign(query.words.size(), 0);
  WordWindow best{nullptr, 0};
  double covered = 0;
  size_t to = 0;
  for (const FoundWord& from : found) {
    for (; to < found.size() && found[to].position < from.position + width; to++) {
      const size_t word = found[to].word;
      covered += weightOf(word) * (++counts[word] == 1 ? 1 : REPEATED_SHARE);
    }
    if (covered > best.covered + ROUNDING) best = {&from, covered};
    covered -= weightOf(from.word) * (--counts[from.word] == 0 ? 1 : REPEATED_SHARE);
  }
  return best;
}

WordWindow densestPassage(std::span<const WordSpan> spans, const TextQuery& query,
                          std::vector<FoundWord>& found, std::vector<uint32_t>& counts) {
  found.clear();
  for (const WordSpan& span : spans) found.push_back({static_cast<double>(span.start), span.word});
  return densestWindow(found, query, MAX_SNIPPET_CHARS - LEAD_CHARS, counts);
}

void cutSnippet(std::u16string_view text, std::span<const WordSpan> spans, const WordWindow& window,
                Snippet& snippet) {
  const double position = window.first == nullptr ? 0 : window.first->position - LEAD_CHARS;
  cut(text, spans, std::max(0.0, position), snippet);
}

Snippeter::Snippeter(const TextSegment& segment, const TermMarks& marks, const TextQuery& query,
                     BlockTexts& texts)
    : segment_(segment),
      marks_(marks),
      query_(query),
      texts_(texts),
      words_(segment, marks),
      shown_(words_, query, leastShown(query)) {}

bool Snippeter::snippet(uint32_t document, Snippet& snippet) {
  const Range blocks = segment_.blocksOf(document);
  if (blocks.empty()) return false;
  uint32_t token = 0;
  const bool hasSpellings = shown_.readSpellings(segment_, document);
  if (bestWindow(document, token)) {
    readAround(document, blocks, token);
  } else {
    readFirst(blocks, hasSpellings);
  }
  cutSnippet(text_, spans_, densestPassage(spans_, query_, found_, counts_), snippet);
  return true;
}

bool Snippeter::bestWindow(uint32_t document, uint32_t& token) {
  const auto content = contentOf(document);
  double covered = 0;
  // One part at a time, because a long document may hold the words of the query very often. A window that
  // extends into the next part starts there as well.
  for (size_t from = 0; from < content.size(); from += MAX_RERANK_TOKENS) {
    const size_t overlap = from + MAX_RERANK_TOKENS + static_cast<size_t>(WINDOW_TOKENS);
    findWords(content, from, std::min(content.size(), overlap));
    const auto [first, own] = densestWindow(found_, query_, WINDOW_TOKENS, counts_);
    if (own <= covered + ROUNDING) continue;
    covered = own;
    token = static_cast<uint32_t>(first->position);
  }
  return covered > 0;
}

std::span<const int32_t> Snippeter::contentOf(uint32_t document) const {
  const auto tokens = segment_.tokensOf(document);
  const auto mark = std::ranges::find(tokens, static_cast<int32_t>(MARK | CONTENT_FIELD));
  const auto first = mark == tokens.end() ? mark : mark + 1;
  return {first, std::find_if(first, tokens.end(), [](int32_t token) { return token < 0; })};
}

void Snippeter::findWords(std::span<const int32_t> content, size_t from, size_t to) {
  const uint8_t* wordOf = marks_.wordOf();
  found_.clear();
  for (size_t i = from; i < to; i++) {
    const uint8_t word = wordOf[content[i]];
    if (word != 0 && marks_.isMatch(content, i)) found_.push_back({static_cast<double>(i), word - size_t{1}});
  }
}

void Snippeter::readFirst(Range blocks, bool hasSpellings) {
  spans_.clear();
  for (uint32_t block = blocks.from; hasSpellings && block < blocks.to; block++) {
    text_ = texts_.of(segment_, block);
    shown_.find(text_, 0, text_.size(), spans_);
    if (!spans_.empty()) return;
  }
  text_ = texts_.of(segment_, blocks.from);
}

void Snippeter::readAround(uint32_t document, Range blocks, uint32_t token) {
  uint32_t block = blocks.from;
  while (block + 1 < blocks.to && segment_.firstTokenOf(block + 1) <= token) block++;
  const bool hasNext = block + 1 < blocks.to;
  const double start = segment_.firstTokenOf(block);
  const double end = hasNext ? segment_.firstTokenOf(block + 1) : segment_.lengths[document];
  text_ = texts_.of(segment_, block);
  const double share = (token - start) / std::max(1.0, end - start);
  const double estimate = share * static_cast<double>(text_.size());
  if (hasNext && estimate + REGION_CHARS / 2 > static_cast<double>(text_.size())) {
    const Text next = Text(texts_.of(segment_, block + 1)).substr(0, MAX_SNIPPET_CHARS);
    if (!next.empty()) text_.append(u" ").append(next);
  }
  const size_t from = wordStart(text_, std::max(0.0, estimate - REGION_CHARS / 2));
  const size_t to = std::min(text_.size(), from + static_cast<size_t>(REGION_CHARS));
  shown_.find(text_, from, Tokenizer::instance().characterStart(text_, to), spans_);
  if (spans_.empty()) shown_.find(text_, 0, text_.size(), spans_);
}

}  // namespace tessera
