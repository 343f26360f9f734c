// Lines of Markdown.
#pragma once
#include "text/page/markdown_units.hpp"

namespace tessera {

/// True for a line that begins with a fence, which may be in a quote.
bool isFence(Units text, size_t line);

/// Where the text of a line starts: after markers, callouts and admonitions. The end of a line without text.
///
/// @param lineEnd end of the line
size_t lineTextAt(Units text, size_t line, size_t lineEnd);

}  // namespace tessera
