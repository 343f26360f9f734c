// The words of a query in scripts without spaces, and which of them are function words. Documents are indexed by pairs
// of neighbouring characters, so that a word is found regardless of the segmentation around it. Many pairs of a
// question are chance: they reach from one word into the next, or from a noun into its particle. They are rare, and
// would outweigh the words.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace tessera {

/// Where a word of a dictionary, or the text between two words, ends.
struct WordBreak {
  size_t end;
  bool isWord;
};

/// The breaks of a text, up to its end.
using WordBreaks = std::function<std::vector<WordBreak>()>;

class UnspacedWords {
 public:
  /// @param text kept by the caller
  UnspacedWords(std::u16string_view text, std::span<const WordBreak> breaks);

  /// True if a pair of characters, or one, is not a part of a content word.
  bool isChance(size_t start, size_t end) const;
  /// The character at a position, if it is a word and its neighbours are function words or missing.
  std::optional<std::u16string_view> loneWordAt(size_t position) const;

 private:
  struct Word {
    size_t start;
    size_t end;
    bool isFunctional;
  };

  /// Adds a word of a dictionary; a Korean one without its ending. @param simplified its text in simplified Chinese
  void add(size_t start, size_t end, std::u16string_view simplified);
  std::span<const Word>::iterator wordAt(size_t position) const;
  std::u16string_view textOf(const Word& word) const { return text_.substr(word.start, word.end - word.start); }
  /// True for one character, which does not have a pair of its own.
  bool isSingle(const Word& word) const;

  const std::u16string_view text_;
  std::vector<Word> words_;
};

}  // namespace tessera
