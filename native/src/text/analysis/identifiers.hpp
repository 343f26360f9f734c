// Identifiers in mixed case, and the words that they consist of.
#pragma once
#include <string_view>
#include <vector>

namespace tessera {

/// The identifiers in mixed case in a text, such as `getStaticProps` or `HTTPServer`.
std::vector<std::u16string_view> identifiersIn(std::u16string_view text);

/// The words in a text that have subwords: identifiers in mixed case, and letters with a number.
std::vector<std::u16string_view> compoundsIn(std::u16string_view text);

/// The subwords of an identifier: get, Static, Props; HTTP, Server; utf, 8.
std::vector<std::u16string_view> subwordsOf(std::u16string_view identifier);

}  // namespace tessera
