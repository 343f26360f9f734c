#include "search/render.hpp"

#include <charconv>

namespace tessera {

template <typename Number>
static void appendNumber(std::string& out, Number value) {
  char digits[32];
  const auto result = std::to_chars(digits, digits + sizeof digits, value);
  out.append(digits, result.ptr);
}

static void appendEscaped(std::string& out, std::string_view text) {
  static constexpr char HEX[] = "0123456789abcdef";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20) {
      out += "\\u00";
      out += HEX[byte >> 4];
      out += HEX[byte & 15];
    } else {
      out += c;
    }
  }
}

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
  out += R"(],"page_info":{"self":")";
  appendEscaped(out, selfPath);
  out += R"(","first":null,"next":null,"prev":null},"search_time_ms":)";
  appendNumber(out, answer.milliseconds);
  out += R"(,"total_matches":)";
  appendNumber(out, answer.work.matches);
  out += '}';
}

}  // namespace tessera
