// Words that some texts write with signs or spaces and others as one: numbers with their thousands apart, telephone
// numbers, abbreviations with dots or `&`, numbers with `0x`; and words with hyphens or apostrophes which a query does
// not cut, because they have more than two parts, or one is a function word.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tessera {

/// A spelling as one word, and where it ends in the text.
struct JoinedWord {
  std::u16string text;
  size_t end;
};

/// True if a word can be the first part of a joined spelling. `joinedAt` then decides.
bool isJoint(std::u16string_view text, size_t start, size_t end);

/// The joined spelling that starts at the start of a word.
std::optional<JoinedWord> joinedAt(std::u16string_view text, size_t start);

/// A piece of text without the points that Catalan writes in a double letter; nothing for a piece without one.
std::optional<std::u16string> geminatedIn(std::u16string_view piece);

}  // namespace tessera
