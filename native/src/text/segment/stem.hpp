// The stems of words, by Snowball's algorithm for a language.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tessera {

/// The number of languages that have a stemmer. A language is known by its place in `stemLanguages`.
inline constexpr size_t STEM_LANGUAGES = 28;
/// The language of texts whose language is unknown, and of words in Latin letters in texts of other scripts.
inline constexpr uint8_t ENGLISH = 0;

/// The codes of the languages (ISO 639-1).
std::span<const char* const> stemLanguages();

/// True if a language is written in Latin letters.
bool isLatin(uint8_t language);

/// True if a language has a stemmer for the letters of a word. Words with digits have no stem.
bool hasStem(std::u16string_view word, uint8_t language);

/// The stem of a word that has one, in lower case with the marks of its language.
std::u16string stemOf(std::u16string_view word, uint8_t language);

/// A hash of the stem: forms of a word in a language have the same one.
uint32_t stemKey(std::u16string_view word, uint8_t language);

}  // namespace tessera
