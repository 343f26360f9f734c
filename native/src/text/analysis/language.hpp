// Detects the language of a document among those with a stemmer: the one that its frontmatter names, or else the
// language of most of its function words. Languages are numbered as in `stemLanguages`.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tessera {

struct FrontmatterEntry {
  std::u16string key;
  std::u16string value;
};

/// The language of a tag such as `de`, `pt-BR`, `deu` or `zh_TW`, or of the English name of a language; English for
/// languages without a stemmer; nothing for all other values.
std::optional<uint8_t> languageNamed(std::u16string_view value);

/// The language of a document.
///
/// @param tokens the tokens of the document, as numbers
/// @param bitsOf the `languageBits` of a token; 0 for marks
uint8_t languageOf(std::span<const FrontmatterEntry> frontmatter, std::u16string_view content,
                   std::span<const int32_t> tokens, const std::function<uint32_t(int32_t)>& bitsOf);

}  // namespace tessera
