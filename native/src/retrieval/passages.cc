#include "retrieval/passages.hpp"

#include <algorithm>

#include "text/markdown_units.hpp"
#include "text/plain_text.hpp"

namespace tessera {

/// Text of a version, in bytes, in which the best passage is looked for.
static constexpr size_t BEST_PASSAGE_BYTES = size_t{1} << 20;
/// Chunks before one in which its heading is looked for.
static constexpr size_t HEADING_CHUNKS = 64;
/// More than rounding errors of weights.
static constexpr double WEIGHT_ROUNDING = 1e-9;

Passages::Passages(std::span<const TextSegment> segments, const TextQuery& query,
                   const Tokenizer& tokenizer, LookupScratch& scratch)
    : segments_(segments),
      query_(query),
      tokenizer_(tokenizer),
      scratch_(scratch),
      words_(segments, query),
      shown_(words_, query, leastShown(query), tokenizer) {}

const ChunkRef& Passages::best(std::span<const ChunkRef> chunks) {
  const ChunkRef* best = &chunks.front();
  if (chunks.size() == 1) return *best;
  double most = 0;
  size_t bytes = 0;
  for (const ChunkRef& chunk : chunks) {
    bytes += chunk.parts.content.size();
    if (bytes > BEST_PASSAGE_BYTES) break;
    decodeJsonString(chunk.parts.content, text_);
    shown_.find(text_, 0, text_.size(), spans_);
    const double covered = densestPassage(spans_, query_, found_, counts_).covered;
    if (covered <= most + WEIGHT_ROUNDING) continue;
    best = &chunk;
    most = covered;
  }
  return *best;
}

void Passages::highlight(const ChunkRef& chunk, Snippet& snippet) {
  decodeJsonString(chunk.parts.content, text_);
  plainTextOf(text_, plain_);
  shown_.find(plain_, 0, plain_.size(), spans_);
  cutSnippet(plain_, spans_, densestPassage(spans_, query_, found_, counts_), snippet);
}

void Passages::highlight(const TextMatch& file, Snippet& snippet) {
  const TextSegment& segment = segments_[file.segment];
  const TermMarks marks(segment, file.segment, query_, scratch_.rank.marks);
  Snippeter(segment, marks, query_, tokenizer_, scratch_.texts).snippet(file.document, snippet);
}

/// The last of the headings that nothing but headings comes before.
static const MarkdownHeading* leadingHeading(Units text,
                                             const std::vector<MarkdownHeading>& headings) {
  const MarkdownHeading* leading = nullptr;
  size_t at = 0;
  for (const MarkdownHeading& heading : headings) {
    if (!trimmed(text.substr(at, heading.start - at)).empty()) break;
    if (!heading.text.empty()) leading = &heading;
    at = heading.end;
  }
  return leading;
}

std::optional<std::u16string> headingOf(const ChunkRef& chunk, std::span<const ChunkRef> chunks) {
  std::u16string text;
  decodeJsonString(chunk.parts.content, text);
  const auto own = headingsOf(text);
  if (const MarkdownHeading* leading = leadingHeading(text, own)) return leading->text;
  auto before = std::ranges::find_if(
      chunks, [&](const ChunkRef& other) { return other.parts.index >= chunk.parts.index; });
  for (size_t i = 0; i < HEADING_CHUNKS && before != chunks.begin(); i++) {
    --before;
    decodeJsonString(before->parts.content, text);
    const auto headings = headingsOf(text);
    for (auto heading = headings.rbegin(); heading != headings.rend(); ++heading) {
      if (!heading->text.empty()) return heading->text;
    }
  }
  return std::nullopt;
}

}  // namespace tessera
