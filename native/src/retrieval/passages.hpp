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

/// A hit as it is shown.
struct ShownHit {
  /// The text of its file; nothing if that has none.
  std::optional<TextMatch> document;
  /// None if the file has no chunks.
  std::optional<ChunkRef> chunk;
  /// The words of the query in the chunk, if they were found when that was chosen.
  std::optional<std::vector<WordSpan>> words;
  /// The file in JSON; empty with a chunk.
  std::string file;
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
           const Tokenizer& tokenizer, LookupScratch& scratch);

  /// The weight of the words in the passage that covers most of the query, of each chunk of a file; 0 without any.
  std::vector<double> coverages(std::span<const ChunkRef> chunks, const std::optional<TextMatch>& file);
  /// Gives a hit the chunk with the passage that covers most of the query; the first of equal ones.
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
  const Tokenizer& tokenizer_;
  LookupScratch& scratch_;
  ViewWords words_;
  ShownWords shown_;
  std::vector<WordSpan> spans_;
  std::vector<FoundWord> found_;
  std::vector<uint32_t> counts_;
};

/// The nearest heading of a chunk, as it stands between the quotes of JSON: the last of the strings in the list
/// `headings` of its metadata, where the service writes the headings above a chunk that it cuts, and other chunks
/// may have them. std::nullopt without such a list.
std::optional<std::string_view> headingOf(const ChunkText& chunk);

/// The title and the description of a file; empty if it has no description and no title but its name.
std::u16string headTextOf(const TextSegment& segment, uint32_t document);

/// True for a file with text, or with a title or a description in its place.
inline bool isShowable(const TextSegment& segment, uint32_t document) {
  return !segment.blocksOf(document).empty() || !headTextOf(segment, document).empty();
}

}  // namespace tessera
