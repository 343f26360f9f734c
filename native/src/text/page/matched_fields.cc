#include "text/page/matched_fields.hpp"

#include <algorithm>
#include <vector>

namespace tessera {

/// Appends the name of a field as a JSON string.
static void appendName(std::string& out, const TextSegment& segment, uint32_t field) {
  if (field < FIRST_KEY_FIELD) {
    static constexpr const char* NAMES[] = {R"("path")", R"("title")", R"("headings")",
                                            R"("content")"};
    out += NAMES[field];
    return;
  }
  out += R"("frontmatter.)";
  const uint32_t key = field - FIRST_KEY_FIELD;
  if (key < segment.keys.size()) out += segment.keys[key];
  out += '"';
}

void appendMatchedFields(std::string& out, const TextSegment& segment, uint32_t document,
                         const TermMarks& marks) {
  const auto tokens = segment.tokensOf(document);
  std::vector<uint32_t> fields;
  uint32_t field = PATH_FIELD;
  bool isNamed = false;
  for (size_t i = 0; i < tokens.size(); i++) {
    const int32_t token = tokens[i];
    if (token < FIRST_INNER_MARK) {
      field = fieldOfMark(token);
      isNamed = std::ranges::find(fields, field) != fields.end();
    } else if (token >= 0 && !isNamed && marks.isMatch(tokens, i)) {
      fields.push_back(field);
      isNamed = true;
      // The content is the last field and by far the longest.
      if (field == CONTENT_FIELD) break;
    }
  }
  out += '[';
  for (const uint32_t each : fields) {
    if (each != fields.front()) out += ',';
    appendName(out, segment, each);
  }
  out += ']';
}

}  // namespace tessera
