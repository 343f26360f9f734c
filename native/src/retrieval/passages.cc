#include "retrieval/passages.hpp"

#include <algorithm>

#include "common/limits.hpp"
#include "common/utf8.hpp"
#include "json/json_members.hpp"

namespace tessera {

/// Bytes of a version's text that are searched for the best passage.
static constexpr size_t BEST_PASSAGE_BYTES = size_t{1} << 20;
/// Upper bound of the rounding errors of weights.
static constexpr double WEIGHT_ROUNDING = 1e-9;

Passages::Passages(std::span<const TextSegment> segments, const TextQuery& query,
                   LookupScratch& scratch)
    : segments_(segments),
      query_(query),
      scratch_(scratch),
      words_(segments, query),
      shown_(words_, query, leastShown(query)) {}

template <typename Visit>
void Passages::eachPassage(std::span<const ChunkRef> chunks, const Visit& visit) {
  size_t bytes = 0;
  for (size_t i = 0; i < chunks.size(); i++) {
    bytes += chunks[i].parts.content.size();
    if (bytes > BEST_PASSAGE_BYTES) return;
    shown_.find(scratch_.chunks.of(chunks[i].parts.content, chunks[i].place), spans_);
    visit(i, densest(spans_).covered);
  }
}

void Passages::readSpellings(const std::optional<TextMatch>& file) {
  if (file) {
    shown_.readSpellings(segments_[file->segment], file->document);
  } else {
    shown_.skipSpellings();
  }
}

std::vector<double> Passages::coverages(std::span<const ChunkRef> chunks, const std::optional<TextMatch>& file) {
  readSpellings(file);
  std::vector<double> covered(chunks.size());
  eachPassage(chunks, [&](size_t i, double own) { covered[i] = own; });
  return covered;
}

void Passages::choose(std::span<const ChunkRef> chunks, ShownHit& hit) {
  hit.chunk = chunks.front();
  if (chunks.size() == 1) return;
  readSpellings(hit.document);
  double most = 0;
  eachPassage(chunks, [&](size_t i, double covered) {
    if (covered <= most + WEIGHT_ROUNDING) return;
    most = covered;
    hit.chunk = chunks[i];
    hit.words = spans_;
  });
}

void Passages::highlight(const ShownHit& hit, Snippet& snippet) {
  if (!hit.chunk) return highlightFile(*hit.document, snippet);
  const DividedText& divided = scratch_.chunks.of(hit.chunk->parts.content, hit.chunk->place);
  readSpellings(hit.document);
  if (!hit.words) shown_.find(divided, spans_);
  const std::vector<WordSpan>& words = hit.words ? *hit.words : spans_;
  cutSnippet(divided.text, words, densest(words), snippet);
}

/// Highlights a file as a lookup does. For a file without text, it highlights the title and the description.
void Passages::highlightFile(const TextMatch& file, Snippet& snippet) {
  const TextSegment& segment = segments_[file.segment];
  const TermMarks marks(segment, file.segment, query_, scratch_.rank.marks);
  Snippeter snippeter(segment, marks, query_, scratch_.texts);
  if (snippeter.snippet(file.document, snippet)) return;
  const std::u16string head = headTextOf(segment, file.document);
  shown_.skipSpellings();
  shown_.find(head, 0, head.size(), spans_);
  cutSnippet(head, spans_, densest(spans_), snippet);
}

std::optional<std::string_view> headingOf(const ChunkText& chunk) {
  std::optional<std::string_view> heading;
  forEachMember(chunk.metadata, [&](std::string_view key, std::string_view value) {
    if (key != R"("headings")") return;
    forEachMember(value, [&](std::string_view, std::string_view item) {
      if (item.starts_with('"')) heading = item.substr(1, item.size() - 2);
    });
  });
  return heading;
}

/// The name of a file without the extension of Markdown.
static std::string_view nameOf(std::string_view path) {
  const std::string_view name = path.substr(path.find_last_of('/') + 1);
  const size_t dot = name.find_last_of('.');
  return dot == std::string_view::npos ? name : name.substr(0, dot);
}

std::u16string headTextOf(const TextSegment& segment, uint32_t document) {
  std::u16string text;
  const std::string_view title = segment.title(document);
  if (title != nameOf(segment.path(document))) {
    decodeUtf8({reinterpret_cast<const uint8_t*>(title.data()), title.size()}, text);
  }
  forEachMember(segment.frontmatter(document), [&](std::string_view, std::string_view entry) {
    bool isDescription = false;
    forEachMember(entry, [&](std::string_view key, std::string_view value) {
      if (key == R"("key")") isDescription = value == R"("description")";
      if (!isDescription || key != R"("value")" || value.size() <= 2) return;
      std::u16string description;
      decodeJsonString(value.substr(1, value.size() - 2), description);
      if (!text.empty()) text += u". ";
      text += description;
    });
  });
  return text;
}

}  // namespace tessera
