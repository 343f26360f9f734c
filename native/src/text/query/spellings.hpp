// Other spellings of the words of a query in texts: joined (`timezone` for `time zone`, `nodejs` for `Node.js`) or apart.
// The plan of the query looks up which of these spellings the documents in scope have.
#pragma once
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "text/analysis/tokenizer.hpp"
#include "text/segment/text_query.hpp"

namespace tessera {

/// A token of a query.
struct QueryToken : TokenSpan {
  /// Whether it is of a script without spaces between words.
  bool isUnspaced = false;
  /// Whether it is one character of such a script.
  bool isCharacter = false;
  /// Whether its characters are neighbours by chance.
  bool isChance = false;
  /// The place of its word among the distinct words.
  size_t place = 0;
};

/// Adds the positions at which texts may write a word apart. @param written the word as the query writes it
void addCuts(AnalysedWord& word, std::u16string_view written);

/// The spellings of words as one: of neighbours, of those that signs link, and of numbers, abbreviations and words that
/// have others. @param words the distinct words
std::vector<JoinedSpelling> joinedSpellings(std::u16string_view query, std::span<const QueryToken> tokens,
                                            std::span<const AnalysedWord> words);

}  // namespace tessera
