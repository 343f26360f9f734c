#include "text/segment/token_writer.hpp"

#include <string>
#include <utility>

#include "text/analysis/identifiers.hpp"
#include "text/segment/text_segment.hpp"

namespace tessera {

/// Appends a word to words that spaces separate.
static void appendWord(std::u16string& words, std::u16string_view word) {
  if (!words.empty()) words += u' ';
  words += word;
}

void TokenWriter::addSpellings() {
  addJoined();
  addSubwords();
}

std::vector<int32_t> TokenWriter::take() {
  for (TermTable* table : {&candidates_, &joined_, &signs_, &pieces_}) table->clear();
  return std::exchange(tokens_, {});
}

void TokenWriter::other(std::u16string_view piece, size_t) {
  pieces_.number(piece);
  for (const std::u16string_view word : compoundsIn(piece)) candidates_.number(word);
  Tokenizer::instance().eachToken(piece, [this](std::u16string_view token, size_t, size_t) { add(token); });
}

void TokenWriter::addJoined() {
  if (joined_.size() + signs_.size() == 0) return;
  mark(JOINED_MARK);
  for (uint32_t i = 0; i < signs_.size(); i++) add(signs_.text(i));
  std::u16string words;
  for (uint32_t i = 0; i < joined_.size(); i++) appendWord(words, joined_.text(i));
  joined_.clear();
  signs_.clear();
  addText(words);
}

void TokenWriter::addSubwords() {
  std::u16string subwords;
  for (uint32_t i = 0; i < candidates_.size(); i++) {
    for (const std::u16string_view compound : compoundsIn(candidates_.text(i))) {
      for (const std::u16string_view subword : subwordsOf(compound)) appendWord(subwords, subword);
    }
  }
  if (!subwords.empty()) {
    mark(SUBWORDS_MARK);
    addText(subwords);
  }
  candidates_.clear();
}

}  // namespace tessera
