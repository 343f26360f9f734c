#include "search/render.hpp"

#include <algorithm>

#include "common/prefetch.hpp"
#include "json/write.hpp"

namespace tessera {

/// Bytes of a text that are prefetched. The processor itself prefetches the rest.
static constexpr size_t PREFETCHED_BYTES = 1024;

void renderAnswer(const Answer& answer, std::string_view selfPath, std::string& out) {
  out.assign(R"({"data":[)");
  // Prefetch all texts, so that their reads from memory overlap.
  for (const Hit& hit : answer.hits) {
    const std::string_view text = hit.shard->text(hit.row);
    prefetch(text.data(), std::min(text.size(), PREFETCHED_BYTES));
  }
  bool first = true;
  for (const Hit& hit : answer.hits) {
    out += first ? R"({"chunk":)" : R"(,{"chunk":)";
    first = false;
    out += hit.shard->text(hit.row);
    out += R"(,"score":)";
    appendNumber(out, hit.score);
    out += R"(,"match_type":"semantic"})";
  }
  out += "],";
  appendPageInfo(out, selfPath, nullptr);
  out += R"(,"search_time_ms":)";
  appendNumber(out, answer.milliseconds);
  out += R"(,"total_matches":)";
  appendNumber(out, answer.work.matches);
  out += '}';
}

}  // namespace tessera
