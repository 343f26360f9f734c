#include "retrieval/render_hit.hpp"

#include <algorithm>
#include <ranges>

#include "json/write.hpp"
#include "text/lookup.hpp"

namespace tessera {

/// The document of a file version; nothing if it has no text in the scope.
static std::optional<TextMatch> documentOf(std::span<const TextSegment> segments,
                                           std::string_view path, std::string_view versionId) {
  for (uint32_t s = 0; s < segments.size(); s++) {
    const TextSegment& segment = segments[s];
    const auto documents = std::views::iota(uint32_t{0}, segment.documentCount());
    const auto pathOf = [&](uint32_t document) { return segment.path(document); };
    // A segment may have several versions of a file.
    for (const uint32_t document : std::ranges::equal_range(documents, path, {}, pathOf)) {
      const bool isOwn = segment.versionId(document) == versionId;
      if (isOwn && segment.inScope.has(document)) return TextMatch{s, document, 0};
    }
  }
  return std::nullopt;
}

void HitRenderer::append(std::string& out, const ShownHit& hit) {
  out += R"({"chunk":)";
  if (hit.chunk) {
    out += hit.chunk->text;
  } else {
    out += R"(null,"file":)";
    out += hit.file;
  }
  out += R"(,"score":)";
  appendNumber(out, hit.score);
  out += R"(,"match_type":)";
  if (!hit.keyword) {
    out += R"("semantic")";
  } else {
    out += hit.semantic ? R"("hybrid")" : R"("keyword")";
  }
  out += R"(,"scores":{"semantic":)";
  if (hit.semantic) {
    appendNumber(out, *hit.semantic);
  } else {
    out += "null";
  }
  out += R"(,"keyword":)";
  if (hit.keyword) {
    appendScore(out, *hit.keyword);
  } else {
    out += "null";
  }
  out += '}';
  if (hasQuery_) appendContext(out, hit);
  out += '}';
}

void HitRenderer::appendContext(std::string& out, const ShownHit& hit) {
  snippet_.text.clear();
  snippet_.matches.clear();
  std::optional<std::u16string> heading;
  if (hit.chunk) {
    passages_.highlight(*hit.chunk, snippet_);
    heading = headingOf(*hit.chunk, source_.chunksOf(hit.chunk->parts.versionId));
  } else {
    passages_.highlight(*hit.match, snippet_);
  }
  appendSnippet(out, "highlight", snippet_);
  appendTitle(out, hit);
  out += R"(,"heading":)";
  if (heading) {
    appendString(out, *heading);
  } else {
    out += "null";
  }
}

void HitRenderer::appendTitle(std::string& out, const ShownHit& hit) {
  out += R"(,"title":)";
  const auto document =
      hit.match != nullptr ? std::optional(*hit.match)
                           : documentOf(segments_, hit.path, hit.chunk->parts.versionId);
  if (document) {
    appendString(out, segments_[document->segment].title(document->document));
  } else {
    appendString(out, std::string_view(hit.path).substr(hit.path.find_last_of('/') + 1));
  }
}

}  // namespace tessera
