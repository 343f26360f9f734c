#include "retrieval/render_hit.hpp"

#include <optional>

#include "json/write.hpp"
#include "text/query/lookup.hpp"

namespace tessera {

void HitRenderer::append(std::string& out, const ShownHit& hit) {
  out += R"({"chunk":)";
  if (hit.chunk) {
    out += hit.chunk->text;
  } else {
    out += R"(null,"file":{"id":")";
    out += hit.file.fileId;
    out += R"(","path":")";
    out += hit.file.path;
    out += R"(","version_id":")";
    out += hit.file.versionId;
    out += R"("})";
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
  appendOrNull(out, hit.semantic, appendNumber<double>);
  out += R"(,"keyword":)";
  appendOrNull(out, hit.keyword, appendScore);
  out += '}';
  if (hasQuery_) appendContext(out, hit);
  out += '}';
}

void HitRenderer::appendHits(std::string& out, std::span<const ShownHit> hits) {
  for (size_t i = 0; i < hits.size(); i++) {
    if (i > 0) out += ',';
    append(out, hits[i]);
  }
}

void HitRenderer::appendGroup(std::string& out, std::span<const ShownHit> hits) {
  const ShownHit& best = hits.front();
  out += R"({"file":{"id":")";
  out += best.chunk ? best.chunk->parts.fileId : best.file.fileId;
  out += R"(","path":)";
  appendString(out, best.path);
  appendTitle(out, best);
  out += R"(},"score":)";
  appendNumber(out, best.score);
  out += R"(,"hits":[)";
  appendHits(out, hits);
  out += "]}";
}

void HitRenderer::appendContext(std::string& out, const ShownHit& hit) {
  Snippet highlight;
  passages_.highlight(hit, highlight);
  appendSnippet(out, "highlight", highlight);
  appendTitle(out, hit);
  out += R"(,"heading":)";
  // The heading is already JSON.
  appendOrNull(out, hit.chunk ? headingOf(hit.chunk->parts) : std::nullopt, [](std::string& to, std::string_view text) {
    to.append(1, '"').append(text).append(1, '"');
  });
}

void HitRenderer::appendTitle(std::string& out, const ShownHit& hit) {
  out += R"(,"title":)";
  if (hit.document) {
    appendString(out, segments_[hit.document->segment].title(hit.document->document));
  } else {
    appendString(out, std::string_view(hit.path).substr(hit.path.find_last_of('/') + 1));
  }
}

}  // namespace tessera
