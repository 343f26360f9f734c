// The fields of a document that match a query.
#pragma once
#include <cstdint>
#include <string>

#include "text/segment/term_marks.hpp"
#include "text/segment/text_segment.hpp"

namespace tessera {

/// Appends the names of the fields of a document that hold a term matching the query as a JSON list, in
/// the order path, title, headings, frontmatter (file order), content.
void appendMatchedFields(std::string& out, const TextSegment& segment, uint32_t document,
                         const TermMarks& marks);

}  // namespace tessera
