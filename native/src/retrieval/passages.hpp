// Passages of chunks: the one that answers a query best, and the heading above it.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "retrieval/sources.hpp"
#include "text/lookup.hpp"
#include "text/word_spans.hpp"

namespace tessera {

class Passages {
 public:
  Passages(std::span<const TextSegment> segments, const TextQuery& query,
           const Tokenizer& tokenizer, LookupScratch& scratch);

  /// The chunk with the passage that covers most of the query; the first of equal ones.
  const ChunkRef& best(std::span<const ChunkRef> chunks);
  /// The passage of a chunk that covers most of the query.
  void highlight(const ChunkRef& chunk, Snippet& snippet);
  /// The same of a file without chunks.
  void highlight(const TextMatch& file, Snippet& snippet);

 private:
  const std::span<const TextSegment> segments_;
  const TextQuery& query_;
  const Tokenizer& tokenizer_;
  LookupScratch& scratch_;
  ViewWords words_;
  ShownWords shown_;
  std::u16string text_;
  std::u16string plain_;
  std::vector<WordSpan> spans_;
  std::vector<FoundWord> found_;
  std::vector<uint32_t> counts_;
};

/// The heading that a chunk begins with, or the last one before it.
///
/// @param chunks those of its version by index
std::optional<std::u16string> headingOf(const ChunkRef& chunk, std::span<const ChunkRef> chunks);

}  // namespace tessera
