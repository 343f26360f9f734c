// The response body of a search.
#pragma once
#include <string>
#include <string_view>

#include "search.hpp"

namespace tessera {

/// Writes the whole response body into `out`, whose storage is reused.
void renderAnswer(const Answer& answer, std::string_view selfPath, std::string& out);

}  // namespace tessera
