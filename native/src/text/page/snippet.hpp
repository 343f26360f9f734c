// Cuts snippets out of documents, where most of a query is close together.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "text/segment/block_texts.hpp"
#include "text/segment/term_marks.hpp"
#include "text/page/word_spans.hpp"

namespace tessera {

/// A passage of a document as plain text.
struct Snippet {
  std::u16string text;
  /// The words that match, as [start, end) in code units of `text`; ascending and disjoint.
  std::vector<std::pair<size_t, size_t>> matches;
};

/// A word of the query, and where it is in a text or in the content of a document.
struct FoundWord {
  double position;
  size_t word;
};

/// The window that covers most of the query: its first word, null without a match, and the covered weight.
struct WordWindow {
  const FoundWord* first;
  double covered;
};
/// @param found words of the query, sorted by position
/// @param counts reusable memory
WordWindow densestWindow(std::span<const FoundWord> found, const TextQuery& query, double width,
                         std::vector<uint32_t>& counts);

/// The window of a text with the words of the query that are in it.
WordWindow densestPassage(std::span<const WordSpan> spans, const TextQuery& query,
                          std::vector<FoundWord>& found, std::vector<uint32_t>& counts);

/// The least weight of a word that is highlighted.
double leastShown(const TextQuery& query);

/// Cuts the text around a window of it.
void cutSnippet(std::u16string_view text, std::span<const WordSpan> spans, const WordWindow& window,
                Snippet& snippet);

/// For the documents of one segment.
class Snippeter {
 public:
  Snippeter(const TextSegment& segment, const TermMarks& marks, const TextQuery& query,
            BlockTexts& texts);

  /// False if the document has no text.
  bool snippet(uint32_t document, Snippet& snippet);

 private:
  /// Finds the first token of the window of the content that holds most of the query.
  bool bestWindow(uint32_t document, uint32_t& token);
  std::span<const int32_t> contentOf(uint32_t document) const;
  /// Puts the words of the query in a part of the content into `found_`.
  void findWords(std::span<const int32_t> content, size_t from, size_t to);
  /// Puts the first text with a spelling in parts, or else the first text, into `text_`, and its words into `spans_`.
  void readFirst(Range blocks, bool hasSpellings);
  /// Puts the text around a token into `text_`, and its words into `spans_`.
  void readAround(uint32_t document, Range blocks, uint32_t token);
  const TextSegment& segment_;
  const TermMarks& marks_;
  const TextQuery& query_;
  BlockTexts& texts_;
  SegmentWords words_;
  ShownWords shown_;
  std::u16string text_;
  std::vector<WordSpan> spans_;
  std::vector<FoundWord> found_;
  std::vector<uint32_t> counts_;
};

}  // namespace tessera
