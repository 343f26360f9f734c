// The text that a reader of Markdown sees, of a chunk of a file. `src/markdown` reads whole files.
#pragma once
#include <string>
#include <string_view>

namespace tessera {

/// Replaces `out` with the plain text of some Markdown, on one line. What it cannot be sure of stays.
void plainTextOf(std::u16string_view markdown, std::u16string& out);

}  // namespace tessera
