#include "text/segment/segment_writer.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "common/utf8.hpp"
#include "json/write.hpp"
#include "text/analysis/function_words.hpp"
#include "text/analysis/surface_form.hpp"
#include "text/segment/postings.hpp"

namespace tessera {

namespace {

using View = std::u16string_view;

std::string utf8Of(View text) {
  std::string bytes;
  appendUtf8(bytes, text);
  return bytes;
}

std::string jsonOf(const std::vector<FrontmatterEntry>& entries) {
  std::string list = "[";
  for (const auto& [key, value] : entries) {
    list += list.size() > 1 ? R"(,{"key":)" : R"({"key":)";
    appendString(list, View(key));
    list += R"(,"value":)";
    appendString(list, View(value));
    list += '}';
  }
  return list + "]";
}

constexpr View MARKDOWN_ENDINGS[] = {u".md", u".mdx", u".markdown"};
/// The endings of files that were converted to Markdown.
constexpr View FORMATS[] = {u".htm", u".html", u".adoc", u".asciidoc", u".pdf", u".docx"};

/// The name without the ending that it has, in any case. An ending follows another character.
template <typename Endings>
View withoutEnding(View name, const Endings& endings) {
  const auto isLetter = [](char16_t unit, char16_t lower) { return unit == lower || (unit >= u'A' && unit <= u'Z' && unit + 0x20 == lower); };
  for (const View ending : endings) {
    if (name.size() <= ending.size()) continue;
    const View head = name.substr(0, name.size() - ending.size());
    const bool endsLine = View(u"\n\r\u2028\u2029").find(head.back()) != View::npos;
    if (!endsLine && std::ranges::equal(name.substr(head.size()), ending, isLetter)) return head;
  }
  return name;
}

}  // namespace

void SegmentWriter::add(const KnowledgeDocument& document) {
  requireDocuments(documents_.size() + 1);
  addPath(document.path);
  addField(TITLE_FIELD, document.title);
  tokens_.mark(markOf(HEADINGS_FIELD));
  for (const View heading : document.headings) {
    tokens_.addText(heading);
    tokens_.mark(BREAK_MARK);
  }
  tokens_.addSpellings();
  for (const auto& [key, value] : document.frontmatter) addField(FIRST_KEY_FIELD + keys_.number(key), value);
  std::vector<Block> blocks = addContent(document.content);
  const uint8_t language = addLanguage(document);
  documents_.push_back({document.id, utf8Of(document.path), utf8Of(document.title), jsonOf(document.frontmatter),
                        tokens_.take(), std::move(blocks), language});
}

void SegmentWriter::addField(uint32_t field, View text) {
  tokens_.mark(markOf(field));
  tokens_.addText(text);
  tokens_.addSpellings();
}

/// The file name is a passage of its own, before the folder and the format.
void SegmentWriter::addPath(View path) {
  const size_t start = path.rfind(u'/') + 1;
  const View name = path.substr(start);
  const View head = withoutEnding(name, MARKDOWN_ENDINGS);
  const View stem = head.size() < name.size() ? withoutEnding(head, FORMATS) : name;
  tokens_.mark(markOf(PATH_FIELD));
  tokens_.addText(stem);
  std::u16string others(path.substr(0, start));
  others += head.substr(stem.size());
  if (!others.empty()) {
    tokens_.mark(BREAK_MARK);
    tokens_.addText(others);
  }
  tokens_.addSpellings();
}

std::vector<SegmentWriter::Block> SegmentWriter::addContent(View content) {
  tokens_.mark(markOf(CONTENT_FIELD));
  const size_t first = tokens_.tokens().size();
  std::vector<Block> blocks;
  // The pieces have the same tokens as the whole text, and locate the text of a token.
  for (size_t start = 0; start < content.size();) {
    const View piece = pieceAt(content, start);
    const auto bytes = compressor_.compress(piece);
    blocks.push_back({static_cast<uint32_t>(tokens_.tokens().size() - first), {bytes.begin(), bytes.end()}});
    tokens_.addText(piece);
    start += piece.size();
  }
  tokens_.addSpellings();
  return blocks;
}

uint8_t SegmentWriter::addLanguage(const KnowledgeDocument& document) {
  for (auto term = static_cast<uint32_t>(bits_.size()); term < terms_.size(); term++) {
    bits_.push_back(languageBits(terms_.text(term)));
  }
  const auto bitsOf = [&](int32_t token) { return token < 0 ? 0 : bits_[static_cast<size_t>(token)]; };
  const uint8_t language = languageOf(document.frontmatter, document.content, tokens_.tokens(), bitsOf);
  const TermTable& pieces = tokens_.pieces();
  for (uint32_t i = 0; i < pieces.size(); i++) {
    if (hasStemmedLetter(pieces.text(i))) pieces_[language].number(pieces.text(i));
  }
  return language;
}

SortedTerms SegmentWriter::sortedTerms() const {
  std::vector<View> texts;
  for (uint32_t term = 0; term < terms_.size(); term++) texts.push_back(terms_.text(term));
  return sortTerms(texts);
}

std::string SegmentWriter::keyList() const {
  std::string list = "[";
  for (uint32_t key = 0; key < keys_.size(); key++) {
    if (key > 0) list += ',';
    appendString(list, keys_.text(key));
  }
  return list + "]";
}

std::vector<FieldWeight> SegmentWriter::fieldWeights() const {
  std::vector<FieldWeight> weights{PATH_WEIGHT, TITLE_WEIGHT, HEADINGS_WEIGHT, CONTENT_WEIGHT};
  for (uint32_t key = 0; key < keys_.size(); key++) weights.push_back(keyWeight(keys_.text(key)));
  return weights;
}

void SegmentWriter::moveDocuments(const SortedTerms& terms, DocumentSections& sections) {
  std::ranges::stable_sort(documents_, {}, [](const Staged& each) { return std::tie(each.path, each.id); });
  for (Staged& each : documents_) {
    const std::string id = utf8Of(each.id);
    sections.begin({each.path, id, each.title, each.frontmatter}, each.language);
    for (const int32_t token : each.tokens) {
      sections.addToken(token < 0 ? token : static_cast<int32_t>(terms.numbers[static_cast<size_t>(token)]));
    }
    for (const auto& [firstToken, bytes] : each.blocks) sections.addBlock(firstToken, bytes);
    each = {};
  }
}

std::vector<StemForm> SegmentWriter::markedForms(const SortedTerms& terms) {
  std::vector<StemForm> forms;
  for (uint8_t language = 0; language < STEM_LANGUAGES; language++) {
    const TermTable& pieces = pieces_[language];
    for (uint32_t i = 0; i < pieces.size(); i++) {
      const View piece = pieces.text(i);
      size_t last = View::npos;
      Tokenizer::instance().eachToken(piece, [&](View token, size_t start, size_t end) {
        // The parts of a joined pictograph are as many tokens in the place of the whole one, which has no stem.
        if (std::exchange(last, start) == start) return;
        const std::u16string form = surfaceForm(piece.substr(start, end - start));
        if (form == token || !hasStem(form, language)) return;
        forms.push_back({language, stemKey(form, language), terms.numbers[terms_.number(token)]});
      });
    }
  }
  return forms;
}

void SegmentWriter::write(const SegmentMemory& memory) {
  const SortedTerms terms = sortedTerms();
  std::vector<StemForm> forms = markedForms(terms);
  DocumentSections documents;
  moveDocuments(terms, documents);
  TextSegment segment{};
  documents.finish(keyList(), segment);
  terms.fill(segment);
  std::vector<uint32_t> lengths;
  const Postings postings = invert({segment.tokenStart, segment.tokens, terms.size()}, fieldWeights(), lengths);
  segment.lengths = lengths;
  postings.fill(segment);
  const StemSource source{segment.languages, postings.starts, postings.postings};
  for (uint32_t term = 0; term < terms.size(); term++) {
    const View word = terms.term(term);
    addStemForms(source, term, word, languagesOf(word) != 0, forms);
  }
  const StemTable stems = stemTableOf(source, std::move(forms));
  stems.fill(segment);
  writeSections(segment, memory);
}

}  // namespace tessera
