// Rendering the response body of a search.
#pragma once
#include <string>
#include <string_view>

#include "search/search.hpp"

namespace tessera {

/// Replaces `out` with the complete JSON response body. Reuses its memory.
void renderAnswer(const Answer& answer, std::string_view selfPath, std::string& out);

}  // namespace tessera
