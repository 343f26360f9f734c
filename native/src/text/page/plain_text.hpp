// The text that a reader of Markdown sees, of a chunk of a file. `src/documents/markdown` reads whole files.
#pragma once
#include <string>
#include <string_view>

namespace tessera {

/// Replaces `out` with the plain text of some Markdown, on one line. Ambiguous markup is kept.
void plainTextOf(std::u16string_view markdown, std::u16string& out);

}  // namespace tessera
