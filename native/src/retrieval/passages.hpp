// Passages of chunks: the one that answers a query best, and the heading above it.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "retrieval/sources.hpp"
#include "text/query/lookup.hpp"
#include "text/query/top_matches.hpp"
#include "text/page/word_spans.hpp"

namespace tessera {

/// A hit to render.
struct ShownHit {
  /// The document of its file; std::nullopt for a file without text.
  std::optional<TextMatch> document;
  /// std::nullopt for a file without chunks.
  std::optional<ChunkRef> chunk;
  /// The words of the query in the chunk, if choosing the chunk found them.
  std::optional<std::vector<WordSpan>> words;
  /// The text that stands for a file without chunks.
  ChunkText file;
  /// In UTF-8.
  std::string path;
  double score = 0;
  std::optional<double> semantic;
  std::optional<double> keyword;

  /// Identifies the hit between pages.
  std::string_view key() const { return chunk ? chunk->parts.id : std::string_view(path); }
};

/// Finds the passages that answer one query in the texts of chunks and files.
class Passages {
 public:
  Passages(std::span<const TextSegment> segments, const TextQuery& query,
           LookupScratch& scratch);

  /// For each chunk of a file, the weight of its passage that covers most of the query; 0 without a match.
  std::vector<double> coverages(std::span<const ChunkRef> chunks, const std::optional<TextMatch>& file);
  /// Gives a hit the chunk with the passage that covers most of the query; the first of equal chunks.
  void choose(std::span<const ChunkRef> chunks, ShownHit& hit);
  /// The passage of a hit's chunk, or of a file without chunks, that covers most of the query.
  void highlight(const ShownHit& hit, Snippet& snippet);

 private:
  /// Calls `visit(i, covered)` with the weight of the densest passage of each chunk, whose words are in `spans_`.
  template <typename Visit>
  void eachPassage(std::span<const ChunkRef> chunks, const Visit& visit);
  void readSpellings(const std::optional<TextMatch>& file);
  WordWindow densest(std::span<const WordSpan> words) {
    return densestPassage(words, query_, found_, counts_);
  }
  void highlightFile(const TextMatch& file, Snippet& snippet);

  const std::span<const TextSegment> segments_;
  const TextQuery& query_;
  LookupScratch& scratch_;
  ViewWords words_;
  ShownWords shown_;
  std::vector<WordSpan> spans_;
  std::vector<FoundWord> found_;
  std::vector<uint32_t> counts_;
};

/// The nearest heading of a chunk, as JSON without its quotes: the last string in the list `headings` of its metadata.
/// The service writes this list into the chunks that it cuts, and other chunks may have it. std::nullopt without a
/// list of strings.
std::optional<std::string_view> headingOf(const ChunkText& chunk);

/// The title and the description of a file; empty without a description and a title other than its name.
std::u16string headTextOf(const TextSegment& segment, uint32_t document);

/// True for a file with text, or with a title or a description instead.
inline bool isShowable(const TextSegment& segment, uint32_t document) {
  return !segment.blocksOf(document).empty() || !headTextOf(segment, document).empty();
}

}  // namespace tessera
