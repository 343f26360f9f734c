// The forms of a word in a view.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "text/query/text_view.hpp"

namespace tessera {

/// By segment, the terms that are a word or have its stem in a language of the view, ascending. Which they are
/// depends only on the documents in scope.
/// @param word the word as a token
/// @param raw the word as written, in lower case, because stems depend on the diacritics of a language
std::vector<std::vector<uint32_t>> formsOf(const TextView& view, std::u16string_view word,
                                           std::u16string_view raw);

}  // namespace tessera
