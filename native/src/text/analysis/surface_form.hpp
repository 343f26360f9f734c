// Words as stemmers read them.
#pragma once
#include <string>
#include <string_view>

namespace tessera {

/// The text in lower case, with the final form of sigma at the end of words.
std::u16string lowerCase(std::u16string_view text);

/// The surface form of a word: in lower case, composed, and with the marks of its language, which tokens lack. "" if
/// the word is too long to have a stem.
std::u16string surfaceForm(std::u16string_view word);

/// True for a text with letters of a script that has stemmers.
bool hasStemmedLetter(std::u16string_view text);

}  // namespace tessera
