#include "retrieval/passages.hpp"

#include <algorithm>

#include "common/limits.hpp"
#include "common/utf8.hpp"
#include "json/json_members.hpp"
#include "text/page/markdown_units.hpp"
#include "text/page/plain_text.hpp"

namespace tessera {

/// Text of a version, in bytes, in which the best passage is looked for.
static constexpr size_t BEST_PASSAGE_BYTES = size_t{1} << 20;
/// Code units of a chunk from which a highlight is cut, and how many of them are before its first word.
static constexpr size_t REGION_UNITS = 4 * MAX_SNIPPET_CHARS;
static constexpr size_t REGION_LEAD = MAX_SNIPPET_CHARS;
/// More than rounding errors of weights.
static constexpr double WEIGHT_ROUNDING = 1e-9;

/// Where a line starts, if that is near the position.
static size_t lineBefore(Units text, size_t position, const Tokenizer& tokenizer) {
  if (position == 0) return 0;
  const size_t earliest = position > REGION_LEAD ? position - REGION_LEAD : 0;
  const size_t line = text.rfind(u'\n', position);
  if (line != Units::npos && line >= earliest) return line + 1;
  return tokenizer.characterStart(text, position);
}

/// Marks that a snippet does not begin where its text does.
static void addLead(Snippet& snippet) {
  snippet.text.insert(0, 1, u'…');
  for (auto& [start, end] : snippet.matches) {
    start++;
    end++;
  }
}

Passages::Passages(std::span<const TextSegment> segments, const TextQuery& query,
                   const Tokenizer& tokenizer, LookupScratch& scratch)
    : segments_(segments),
      query_(query),
      tokenizer_(tokenizer),
      scratch_(scratch),
      words_(segments, query),
      shown_(words_, query, leastShown(query), tokenizer) {}

/// Finds the densest passage of the text.
WordWindow Passages::densest(const DividedText& divided) {
  shown_.find(divided, spans_);
  return densestPassage(spans_, query_, found_, counts_);
}

std::vector<Passages::Coverage> Passages::coverages(std::span<const ChunkRef> chunks) {
  std::vector<Coverage> found(chunks.size());
  size_t bytes = 0;
  for (size_t i = 0; i < chunks.size(); i++) {
    bytes += chunks[i].parts.content.size();
    if (bytes > BEST_PASSAGE_BYTES) break;
    const auto [first, covered] = densest(scratch_.chunks.of(chunks[i].parts.content));
    if (covered > 0) found[i] = {covered, static_cast<size_t>(first->position)};
  }
  return found;
}

void Passages::choose(std::span<const ChunkRef> chunks, ShownHit& hit) {
  hit.chunk = chunks.front();
  if (chunks.size() == 1) return;
  const std::vector<Coverage> all = coverages(chunks);
  double most = 0;
  for (size_t i = 0; i < chunks.size(); i++) {
    if (all[i].covered <= most + WEIGHT_ROUNDING) continue;
    hit.chunk = chunks[i];
    hit.passage = all[i].position;
    most = all[i].covered;
  }
}

void Passages::highlight(const ShownHit& hit, Snippet& snippet) {
  const DividedText& divided = scratch_.chunks.of(hit.chunk->parts.content);
  const Units text = divided.text;
  size_t at = hit.passage.value_or(0);
  if (!hit.passage) {
    const FoundWord* first = densest(divided).first;
    if (first != nullptr) at = static_cast<size_t>(first->position);
  }
  // Only the text around the passage is reduced to what a reader sees.
  const size_t from = lineBefore(text, at > REGION_LEAD ? at - REGION_LEAD : 0, tokenizer_);
  const Units region = text.substr(from, REGION_UNITS);
  plainTextOf(region, plain_, endsInCode(text.substr(0, from)));
  shown_.find(plain_, 0, plain_.size(), spans_);
  cutSnippet(plain_, spans_, densestPassage(spans_, query_, found_, counts_),
             tokenizer_, snippet);
  if (from > 0 && !snippet.text.starts_with(u'…')) addLead(snippet);
  const bool goesOn = from + region.size() < text.size();
  if (goesOn && !snippet.text.ends_with(u'…')) snippet.text += u'…';
}

void Passages::highlightFiles(std::span<ShownHit> hits) {
  const auto isOwn = [](const ShownHit& hit, uint32_t segment) {
    return hit.isWhole && hit.document && hit.document->segment == segment;
  };
  for (uint32_t s = 0; s < segments_.size(); s++) {
    if (std::ranges::none_of(hits, [&](const ShownHit& hit) { return isOwn(hit, s); })) continue;
    const TermMarks marks(segments_[s], s, query_, scratch_.rank.marks);
    Snippeter snippeter(segments_[s], marks, query_, tokenizer_, scratch_.texts);
    for (ShownHit& hit : hits) {
      if (!isOwn(hit, s)) continue;
      const uint32_t document = hit.document->document;
      if (snippeter.snippet(document, hit.snippet.emplace())) continue;
      if (hit.chunk) {
        // All of its text is headings.
        hit.snippet.reset();
        continue;
      }
      plain_ = headTextOf(segments_[s], document);
      shown_.find(plain_, 0, plain_.size(), spans_);
      cutSnippet(plain_, spans_, densestPassage(spans_, query_, found_, counts_), tokenizer_,
                 *hit.snippet);
    }
  }
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
