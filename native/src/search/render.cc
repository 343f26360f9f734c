#include "search/render.hpp"

#include "json/write.hpp"

namespace tessera {

void renderAnswer(const Answer& answer, std::string_view selfPath, std::string& out) {
  out.assign(R"({"data":[)");
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
