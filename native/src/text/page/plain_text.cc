#include "text/page/plain_text.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "text/page/markdown_lines.hpp"
#include "text/page/markdown_units.hpp"

namespace tessera {

namespace {

constexpr Units PUNCTUATION = u"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";
/// Maximum length of a shortcode or an anchor. It keeps the time linear for a text of opening braces alone.
constexpr size_t BRACES_MAX_UNITS = 1'024;

/// Whether an ASCII character is always literal: `InlineReader` does not read it as markup, and it is not a space.
constexpr auto ASCII_ORDINARY = [] {
  std::array<bool, 0x80> ordinary{};
  for (char16_t unit = 0x21; unit < 0x7f; unit++) {
    ordinary[unit] = Units(u"[]!\\`<{&*~_|%=^").find(unit) == Units::npos;
  }
  return ordinary;
}();

bool isOrdinary(char16_t unit) { return unit < 0x80 ? ASCII_ORDINARY[unit] : !isSpace(unit); }

/// Reduces Markdown outside of fenced code.
class InlineReader {
 public:
  InlineReader(Units text, std::u16string& out) : text_(text), out_(out) {}

  /// Reads a line from its start to its end. Returns the start of the next line.
  size_t line(size_t start, size_t end) {
    space();
    size_t at = lineTextAt(text_, start, end);
    while (at < text_.size() && text_[at] != u'\n') {
      at = isOrdinary(text_[at]) ? run(at) : next(at);
    }
    return std::max(at, end) + 1;
  }

  /// Adds a line unchanged.
  void verbatim(Units line) {
    space();
    for (const char16_t unit : line) add(unit);
  }

 private:
  void space() { isSpaced_ = true; }

  void add(char16_t unit) {
    if (isSpace(unit)) {
      isSpaced_ = true;
      return;
    }
    if (isSpaced_ && !out_.empty()) out_ += u' ';
    isSpaced_ = false;
    out_ += unit;
  }

  /// Adds the ordinary characters from the position on, with single spaces between them. Returns their end.
  size_t run(size_t at) {
    size_t end = at + 1;
    for (; end < text_.size(); end++) {
      if (isOrdinary(text_[end])) continue;
      if (text_[end] != u' ' || !isOrdinary(unitAt(text_, end + 1))) break;
    }
    if (isSpaced_ && !out_.empty()) out_ += u' ';
    isSpaced_ = false;
    out_ += text_.substr(at, end - at);
    return end;
  }

  /// Reads the markup or the character at the position. Returns its end.
  size_t next(size_t at) {
    if (at == skipped_.at) return skipped_.to;
    if (const auto start = link(at)) return *start;
    if (const size_t end = markup(at); end > at) return end;
    add(text_[at]);
    return at + 1;
  }

  std::optional<size_t> link(size_t at) {
    if (text_[at] == u'[') return linkText(at);
    return startsAt(text_, at, u"![") ? linkText(at + 1) : std::nullopt;
  }

  /// The end of the markup that starts at the position; the position itself without markup.
  size_t markup(size_t at) {
    const char16_t unit = text_[at];
    const char16_t after = unitAt(text_, at + 1);
    switch (unit) {
      case u'\\':
        if (after == 0 || PUNCTUATION.find(after) == Units::npos) return at;
        add(after);
        return at + 2;
      case u'`':
        return code(at);
      case u'<':
        return startsAt(text_, at, u"<!--") ? hidden(at, u"-->") : endOfTag(at);
      case u'{':
        return endOfBraces(at);
      case u'&':
        return entity(at);
      case u'*':
      case u'~':
        return isSpace(before(at)) && isSpace(after) ? at : at + countOf(text_, at, unit);
      case u'_':
        return isWord(before(at)) != isWord(after) ? at + 1 : at;
      case u'%':
        return startsAt(text_, at, u"%%") && !isWord(before(at)) ? comment(at) : at;
      case u'=':
        return isMark(at) ? at + 2 : at;
      case u'^':
        return endOfBlockId(at);
      case u'|':
        space();
        return at + 1;
      default:
        return at;
    }
  }

  char16_t before(size_t at) const { return at == 0 ? u'\n' : text_[at - 1]; }

  /// Adds a span of code unchanged.
  size_t code(size_t at) {
    const size_t length = countOf(text_, at, u'`');
    const size_t start = at + length;
    for (size_t end = text_.find(u'`', start); end != Units::npos;) {
      const size_t found = countOf(text_, end, u'`');
      if (found == length) {
        for (const char16_t unit : text_.substr(start, end - start)) add(unit);
        return end + found;
      }
      end = text_.find(u'`', end + found);
    }
    return start;
  }

  /// Skips markup that a reader does not see. Without the closing units, it skips the rest of the text.
  size_t hidden(size_t at, Units closing) {
    space();
    const size_t end = text_.find(closing, at);
    return end == Units::npos ? text_.size() : end + closing.size();
  }

  /// The end of a comment of Obsidian; the position if the comment is not closed.
  size_t comment(size_t at) {
    const size_t end = text_.find(u"%%", at + 2);
    if (end == Units::npos) return at;
    space();
    return end + 2;
  }

  /// Whether two equals signs delimit highlighted text, and are not a comparison.
  bool isMark(size_t at) const {
    const char16_t after = unitAt(text_, at + 2);
    if (unitAt(text_, at + 1) != u'=' || after == u'=' || before(at) == u'=') return false;
    return isWord(before(at)) != isWord(after);
  }

  /// The end of a block id of Obsidian, at the end of a line. It has a letter, or six digits.
  size_t endOfBlockId(size_t at) {
    constexpr size_t DIGITS = 6;
    if (!isSpace(before(at))) return at;
    size_t end = at + 1;
    bool hasLetter = false;
    for (; isLetter(unitAt(text_, end)) || isDigit(unitAt(text_, end)) || unitAt(text_, end) == u'-'; end++) {
      hasLetter |= isLetter(text_[end]);
    }
    const bool isName = hasLetter || end == at + 1 + DIGITS;
    return isName && (end == text_.size() || text_[end] == u'\n' || text_[end] == u'\r') ? end : at;
  }

  size_t endOfTag(size_t at) {
    const size_t name = at + (unitAt(text_, at + 1) == u'/' ? 2 : 1);
    if (!isLetter(unitAt(text_, name))) return at;
    const size_t end = text_.find_first_of(u"<>", name);
    if (end == Units::npos || text_[end] != u'>') return at;
    space();
    return end + 1;
  }

  /// The end of a comment of MDX, a part of a template, an anchor or attributes.
  size_t endOfBraces(size_t at) {
    if (startsAt(text_, at, u"{/*")) return hidden(at, u"*/}");
    const char16_t second = unitAt(text_, at + 1), third = unitAt(text_, at + 2);
    const bool isShortcode = second == u'{' && (third == u'<' || third == u'%' || isVariable(at));
    if (!isShortcode && Units(u"%#:.").find(second) == Units::npos) return at;
    const Units within = text_.substr(at, BRACES_MAX_UNITS);
    const size_t length = within.find(isShortcode ? Units(u"}}") : Units(u"}"));
    if (length == Units::npos || length > endOfLine(within, 0)) return at;
    space();
    return at + length + (isShortcode ? 2 : 1);
  }

  /// Whether two braces start with a name. False for examples: braces in quotes, in TeX, or in a workflow.
  bool isVariable(size_t at) const {
    if (Units(u"$'\"^_").find(before(at)) != Units::npos) return false;
    size_t name = at + 2;
    while (isBlank(unitAt(text_, name))) name++;
    return isLetter(unitAt(text_, name));
  }

  size_t entity(size_t at) {
    static constexpr std::pair<Units, char16_t> ENTITIES[] = {
        {u"&amp;", u'&'}, {u"&lt;", u'<'}, {u"&gt;", u'>'}, {u"&quot;", u'"'}, {u"&nbsp;", u' '}};
    for (const auto& [name, unit] : ENTITIES) {
      if (!startsAt(text_, at, name)) continue;
      add(unit);
      return at + name.size();
    }
    return at;
  }

  /// The start of the text of a link whose bracket is at the position. Stores its end in `skipped_`. The text
  /// is empty for the number of a footnote.
  std::optional<size_t> linkText(size_t at) {
    if (startsAt(text_, at, u"[^")) {
      const size_t end = text_.find_first_of(u"] \n", at);
      if (end == Units::npos || text_[end] != u']') return std::nullopt;
      space();
      return end + (unitAt(text_, end + 1) == u':' ? 2 : 1);
    }
    const bool isWiki = startsAt(text_, at, u"[[");
    const size_t start = at + (isWiki ? 2 : 1);
    const size_t close = text_.find_first_of(u"[]", start);
    if (close == Units::npos || text_[close] != u']') return std::nullopt;
    if (isWiki) {
      if (unitAt(text_, close + 1) != u']') return std::nullopt;
      skipped_ = {close, close + 2};
      const size_t alias = text_.substr(start, close - start).find(u'|');
      return alias == Units::npos ? start : start + alias + 1;
    }
    const size_t end = endOfTarget(close + 1, isWord(before(at)));
    if (end == close + 1) return std::nullopt;
    skipped_ = {close, end};
    return start;
  }

  /// The end of the target of a link, or of the label of its definition; the position without either.
  size_t endOfTarget(size_t at, bool isIndex) const {
    const char16_t open = unitAt(text_, at);
    if (open == u'[' && !isIndex) {
      const size_t end = text_.find_first_of(u"[]\n", at + 1);
      return end != Units::npos && text_[end] == u']' ? end + 1 : at;
    }
    if (open != u'(') return at;
    const size_t end = text_.find_first_of(u"()\n", at + 1);
    return end != Units::npos && text_[end] == u')' ? end + 1 : at;
  }

  /// The part of a link that the reader skips when it reaches `at`.
  struct Skipped {
    size_t at = Units::npos;
    size_t to = 0;
  };

  Units text_;
  std::u16string& out_;
  Skipped skipped_;
  bool isSpaced_ = false;
};

}  // namespace

void plainTextOf(std::u16string_view markdown, std::u16string& out) {
  bool isCode = false;
  out.clear();
  InlineReader reader(markdown, out);
  for (size_t line = 0; line < markdown.size();) {
    const size_t end = endOfLine(markdown, line);
    const bool isMark = isFence(markdown, line);
    if (isCode && !isMark) reader.verbatim(markdown.substr(line, end - line));
    line = isCode || isMark ? end + 1 : reader.line(line, end);
    if (isMark) isCode = !isCode;
  }
}

}  // namespace tessera
