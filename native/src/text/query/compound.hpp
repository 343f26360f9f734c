// The words that a compound consists of, by the vocabulary of a view.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "text/query/text_view.hpp"

namespace tessera {

/// The parts of a word in a language of the view that writes compounds as one word: as few as possible, and the
/// shortest as long as possible. Each part has a form that documents in that language hold and that is not a function
/// word. Empty if there are no such parts, or the word is too short or too long.
std::vector<std::u16string> compoundParts(const TextView& view, std::u16string_view word);

}  // namespace tessera
