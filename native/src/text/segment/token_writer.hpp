// Collects the tokens of a document.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "text/analysis/words.hpp"
#include "text/segment/term_table.hpp"

namespace tessera {

/// Collects the tokens of a document, as term numbers and marks. Documents follow one another.
class TokenWriter {
 public:
  explicit TokenWriter(TermTable& terms) : terms_(terms) {}

  void mark(int32_t mark) { tokens_.push_back(mark); }
  void addText(std::u16string_view text) { eachWord(text, *this); }
  /// Adds the other spellings of the words in the texts since the last call. They follow the text, so that they do not
  /// separate adjacent words.
  void addSpellings();
  /// The tokens of the current document, and its pieces that are not ASCII.
  std::span<const int32_t> tokens() const { return tokens_; }
  const TermTable& pieces() const { return pieces_; }
  /// The tokens of the current document. The next document starts empty.
  std::vector<int32_t> take();

  // Receives the words of a text from the tokenizer.
  void token(std::u16string_view token, size_t, size_t) { add(token); }
  void compound(std::u16string_view word) { candidates_.number(word); }
  void joined(std::u16string_view text, size_t, size_t) { joined_.number(text); }
  void signs(std::u16string_view signs, size_t) { signs_.number(signs); }
  void other(std::u16string_view piece, size_t);

 private:
  void add(std::u16string_view token) { tokens_.push_back(static_cast<int32_t>(terms_.number(token))); }
  void addJoined();
  void addSubwords();

  TermTable& terms_;
  std::vector<int32_t> tokens_;
  /// The words of the current field that may have subwords, such as `getStaticProps`.
  TermTable candidates_;
  /// The joined spellings and signs of the current field.
  TermTable joined_;
  TermTable signs_;
  TermTable pieces_;
};

}  // namespace tessera
