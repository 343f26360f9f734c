// Names that have a meaning with the symbols around or in their words: `C++`, `C#`, `.NET`, `--flag`, `@scope/name`,
// `1.2.3`. They are tokens in addition to their words.
#pragma once
#include <cstddef>
#include <string_view>

#include "text/analysis/tokenizer.hpp"

namespace tessera {

/// Where a name is in a text, in UTF-16 code units. Empty without a name.
struct NameSpan {
  size_t start = 0;
  size_t end = 0;

  bool empty() const { return start == end; }
};

/// Finds the names of one text. The caller passes its words one after another.
class SymbolNames {
 public:
  explicit SymbolNames(std::u16string_view text) : text_(text) {}

  /// A word starts here.
  void open(size_t start) {
    if (start > 0 && (text_[start - 1] == u'.' || text_[start - 1] == u'-' || text_[start - 1] == u'@')) openAt(start);
  }

  /// The word has ended. Calls `visit(span)` for the names that end with it.
  template <typename Visit>
  void close(size_t start, size_t end, const Visit& visit) {
    const char16_t next = at(end);
    if (next == u'+' || next == u'#') {
      const NameSpan own = next == u'+' ? plusName(start, end) : hashName(start, end);
      if (isName(own)) visit(own);
    } else if (next == u'.' && end > open_.end) {
      openVersion(start, end);
    }
    if (open_.empty() || end < open_.end) return;
    if (isName(open_)) visit(open_);
    open_ = {};
  }

 private:
  /// 0 outside of the text.
  char16_t at(size_t position) const { return position < text_.size() ? text_[position] : u'\0'; }
  void openAt(size_t start);
  bool isName(NameSpan span) const;
  bool goesOn(size_t position) const;
  NameSpan plusName(size_t start, size_t end) const;
  NameSpan hashName(size_t start, size_t end) const;
  void openVersion(size_t start, size_t end);
  void openDotted(size_t start);
  void openFlag(size_t start);
  void openScoped(size_t start);

  const std::u16string_view text_;
  /// The name whose words are being read.
  NameSpan open_;
};

}  // namespace tessera
