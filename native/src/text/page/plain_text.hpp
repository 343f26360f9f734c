// The text that a reader of Markdown sees. `src/text/segment/plain-text.ts` does the same for
// segments.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

/// Replaces `out` with the plain text of some Markdown, on one line.
void plainTextOf(std::u16string_view markdown, std::u16string& out);

struct MarkdownHeading {
  /// Without markup.
  std::u16string text;
  /// Its lines, half-open; the end is after the line break.
  size_t start;
  size_t end;
};

/// The headings outside fenced code, as `src/markdown/headings.ts` finds them.
std::vector<MarkdownHeading> headingsOf(std::u16string_view markdown);

}  // namespace tessera
