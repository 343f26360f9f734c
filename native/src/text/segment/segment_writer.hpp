// Writes documents into a text segment.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/analysis/language.hpp"
#include "text/segment/document_sections.hpp"
#include "text/segment/field_weights.hpp"
#include "text/segment/sorted_terms.hpp"
#include "text/segment/stem_table.hpp"
#include "text/segment/term_table.hpp"
#include "text/segment/text_blocks.hpp"
#include "text/segment/text_segment.hpp"
#include "text/segment/token_writer.hpp"

namespace tessera {

/// One version of a Markdown file, to index.
struct KnowledgeDocument {
  /// Identifies the file version. Unique within a segment.
  std::u16string id;
  std::u16string path;
  std::u16string title;
  std::vector<std::u16string> headings;
  /// In the order of the file.
  std::vector<FrontmatterEntry> frontmatter;
  /// The text of the body that a reader sees, without its headings.
  std::u16string content;
};

/// Collects documents, and then writes their segment.
class SegmentWriter {
 public:
  void add(const KnowledgeDocument& document);
  void write(const SegmentMemory& memory);

 private:
  struct Block {
    /// The number of tokens of the content before it.
    uint32_t firstToken;
    std::vector<uint8_t> bytes;
  };
  /// A document with provisional term numbers.
  struct Staged {
    std::u16string id;
    /// In UTF-8.
    std::string path;
    std::string title;
    std::string frontmatter;
    std::vector<int32_t> tokens;
    std::vector<Block> blocks;
    uint8_t language;
  };

  void addField(uint32_t field, std::u16string_view text);
  void addPath(std::u16string_view path);
  std::vector<Block> addContent(std::u16string_view content);
  /// The language of a document, whose pieces are kept.
  uint8_t addLanguage(const KnowledgeDocument& document);
  SortedTerms sortedTerms() const;
  std::string keyList() const;
  std::vector<FieldWeight> fieldWeights() const;
  /// Moves the documents to the sections in the order of their paths and ids.
  void moveDocuments(const SortedTerms& terms, DocumentSections& sections);
  /// The forms of words with marks.
  std::vector<StemForm> markedForms(const SortedTerms& terms);

  TermTable terms_;
  /// The `languageBits` of each term.
  std::vector<uint32_t> bits_;
  TermTable keys_;
  TokenWriter tokens_{terms_};
  BlockCompressor compressor_;
  /// By language, the pieces of its documents that are not ASCII. Tokens lack the marks of their words.
  std::array<TermTable, STEM_LANGUAGES> pieces_;
  std::vector<Staged> documents_;
};

}  // namespace tessera
