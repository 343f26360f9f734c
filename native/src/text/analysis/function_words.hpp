// The function words of each language, which state the form of a question and not its subject.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace tessera {

/// The function words of a language as they are written, separated by spaces and line feeds.
struct FunctionWordList {
  /// Of the language (ISO 639-1).
  std::string_view code;
  std::u16string_view words;
};

/// The languages by the bit of `languageBits`.
std::span<const FunctionWordList> functionWordLists();

/// The languages of queries of which a token is a function word: bit l for language l.
uint32_t languagesOf(std::u16string_view token);

/// The same for all languages.
uint32_t languageBits(std::u16string_view token);

}  // namespace tessera
