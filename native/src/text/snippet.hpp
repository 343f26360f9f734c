// Cuts snippets out of documents, where most of a query is close together.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "text/block_texts.hpp"
#include "text/term_marks.hpp"
#include "text/word_spans.hpp"

namespace tessera {

/// A passage of a document as plain text.
struct Snippet {
  std::u16string text;
  /// The words that match, as [start, end) in code units of `text`; ascending and disjoint.
  std::vector<std::pair<size_t, size_t>> matches;
};

/// For the documents of one segment.
class Snippeter {
 public:
  Snippeter(const TextSegment& segment, const TermMarks& marks, const TextQuery& query,
            const Tokenizer& tokenizer, BlockTexts& texts);

  /// False if the document has no text.
  bool snippet(uint32_t document, Snippet& snippet);

 private:
  /// A match, and where it is in the content or in the text.
  struct Found {
    double position;
    size_t word;
  };

  /// Finds the first token of the window of the content that holds most of the query.
  bool bestWindow(uint32_t document, uint32_t& token);
  /// Puts the text around a token into `text_`, and its words into `spans_`.
  void readAround(uint32_t document, Range blocks, uint32_t token);
  /// The first of `found_` within `width` that cover most of the query; null if there are none.
  const Found* densest(double width);
  double weightOf(size_t word) const { return query_.words[word].weight; }

  const TextSegment& segment_;
  const TermMarks& marks_;
  const TextQuery& query_;
  BlockTexts& texts_;
  ShownWords shown_;
  std::u16string text_;
  std::vector<WordSpan> spans_;
  std::vector<Found> found_;
  /// How often each word is in the window.
  std::vector<uint32_t> counts_;
};

}  // namespace tessera
