// Finds the words of a query in a text.
#pragma once
#include <bitset>
#include <cstdint>
#include <string_view>
#include <vector>

#include "text/term_marks.hpp"
#include "text/tokenizer.hpp"

namespace tessera {

/// Where a text holds a word of a query.
struct WordSpan {
  /// In UTF-16 code units, half-open.
  size_t start;
  size_t end;
  /// The position of the word in the query.
  size_t word;
};

/// The words of a query as they occur in the texts of one segment.
class ShownWords {
 public:
  /// @param least words that weigh less than this are not found
  ShownWords(const TextSegment& segment, const TermMarks& marks, const TextQuery& query, double least,
             const Tokenizer& tokenizer);

  /// Replaces `spans` by the words in a part of a text, in order. In unspaced scripts every pair of
  /// neighbouring characters is a word.
  void find(std::u16string_view text, size_t from, size_t to, std::vector<WordSpan>& spans) const;

 private:
  void findAscii(std::u16string_view piece, size_t offset, std::vector<WordSpan>& spans) const;
  void findOther(std::u16string_view piece, size_t offset, std::vector<WordSpan>& spans) const;
  void findRun(std::u16string_view run, UnitKind kind, size_t offset,
               std::vector<WordSpan>& spans) const;
  /// Adds the span of a token if it matches.
  void push(std::u16string_view token, size_t start, size_t end, std::vector<WordSpan>& spans) const;

  const TextSegment& segment_;
  const TermMarks& marks_;
  const TextQuery& query_;
  const double least_;
  const Tokenizer& tokenizer_;
  static constexpr size_t START_BITS = 5;
  static constexpr size_t START_CHARS = 3;
  static size_t startOf(std::u16string_view word);
  /// How the matching terms start, which tells most other words apart from them.
  std::bitset<size_t{1} << (START_BITS * START_CHARS)> starts_;
};

}  // namespace tessera
