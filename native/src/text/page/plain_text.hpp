// The text that a reader of Markdown sees, of a cut-out around a passage. `src/markdown` reads whole files.
#pragma once
#include <string>
#include <string_view>

namespace tessera {

/// Replaces `out` with the plain text of some Markdown, on one line. What it cannot be sure of stays.
/// @param isCode whether the Markdown begins inside fenced code
void plainTextOf(std::u16string_view markdown, std::u16string& out, bool isCode = false);

/// True if what follows this Markdown is inside fenced code.
bool endsInCode(std::u16string_view markdown);

}  // namespace tessera
