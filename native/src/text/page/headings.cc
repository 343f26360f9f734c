#include <algorithm>
#include <optional>

#include "common/limits.hpp"
#include "text/page/markdown_units.hpp"
#include "text/page/plain_text.hpp"

namespace tessera {

/// Characters of a line that are checked for a heading or fence.
static constexpr size_t LINE_WINDOW = 4 * MAX_HEADING_CHARS;

namespace {

/// Removes the hashes that may close a heading.
Units withoutClosingHashes(Units text) {
  const Units before = text.substr(0, text.find_last_not_of(u'#') + 1);
  return before.empty() || isBlank(before.back()) ? trimmedEnd(before) : text;
}

/// Removes an anchor such as {#name} at the end.
Units withoutAnchor(Units text) {
  if (text.empty() || text.back() != u'}') return text;
  const size_t open = text.find_last_of(u"{}", text.size() - 2);
  const bool isAnchor = open != Units::npos && text[open] == u'{' && unitAt(text, open + 1) == u'#';
  return isAnchor && open + 2 <= text.size() - 1 ? text.substr(0, open) : text;
}

/// Replaces links and images by their texts.
std::u16string withoutLinks(Units text) {
  std::u16string out;
  for (size_t i = 0; i < text.size();) {
    const size_t open = i + (text[i] == u'!' ? 1 : 0);
    if (unitAt(text, open) == u'[') {
      const size_t close = text.find_first_of(u"[]", open + 1);
      if (close != Units::npos && text[close] == u']' && unitAt(text, close + 1) == u'(') {
        const size_t end = text.find_first_of(u"()", close + 2);
        if (end != Units::npos && text[end] == u')') {
          out += text.substr(open + 1, close - open - 1);
          i = end + 1;
          continue;
        }
      }
    }
    out += text[i++];
  }
  return out;
}

std::u16string withoutTags(Units text) {
  std::u16string out;
  for (size_t i = 0; i < text.size();) {
    const size_t end = text[i] == u'<' ? text.find_first_of(u"<>", i + 1) : Units::npos;
    if (end != Units::npos && text[end] == u'>') {
      i = end + 1;
    } else {
      out += text[i++];
    }
  }
  return out;
}

std::u16string headingText(Units raw) {
  std::u16string text = withoutLinks(withoutAnchor(withoutClosingHashes(trimmed(raw))));
  std::erase_if(text, [](char16_t unit) { return unit == u'*' || unit == u'`' || unit == u'~'; });
  text = withoutTags(text);
  return std::u16string(trimmed(text).substr(0, MAX_HEADING_CHARS));
}

size_t indentOf(Units line) {
  size_t indent = 0;
  while (indent < 3 && unitAt(line, indent) == u' ') indent++;
  return indent;
}

/// A line of at least three backticks or tildes, and what follows them.
struct Fence {
  char16_t unit;
  size_t length;
  Units rest;
};

std::optional<Fence> fenceAt(Units line) {
  const size_t indent = indentOf(line);
  const char16_t unit = unitAt(line, indent);
  if (unit != u'`' && unit != u'~') return std::nullopt;
  const size_t length = countOf(line, indent, unit);
  if (length < 3) return std::nullopt;
  return Fence{unit, length, line.substr(indent + length)};
}

/// Text such as ```code``` on one line does not open a fence.
bool opens(const Fence& fence) {
  return fence.unit != u'`' || fence.rest.find(u'`') == Units::npos;
}

bool closes(const Fence& open, const Fence& fence) {
  return fence.unit == open.unit && fence.length >= open.length && trimmed(fence.rest).empty();
}

std::optional<std::u16string> hashHeading(Units line) {
  const size_t indent = indentOf(line);
  const size_t hashes = countOf(line, indent, u'#');
  if (hashes < 1 || hashes > 6) return std::nullopt;
  const Units rest = line.substr(indent + hashes);
  if (!rest.empty() && !isBlank(rest.front())) return std::nullopt;
  return headingText(rest);
}

/// True for lines that cannot be the text of an underlined heading: lists, quotes, tables, indented code.
bool isNoParagraph(Units line) {
  if (line.starts_with(u"    ") || line.starts_with(u'\t')) return true;
  const Units text = trimmed(line);
  if (text.empty()) return true;
  if (Units(u"-+*>|#").find(text.front()) != Units::npos) return true;
  size_t digits = 0;
  while (isDigit(unitAt(text, digits))) digits++;
  const char16_t mark = unitAt(text, digits);
  return digits > 0 && (mark == u'.' || mark == u')') && unitAt(text, digits + 1) == u' ';
}

bool isUnderline(Units line) {
  const size_t indent = indentOf(line);
  const char16_t unit = unitAt(line, indent);
  if (unit != u'=' && unit != u'-') return false;
  return indent + countOf(line, indent, unit) == line.size();
}

}  // namespace

std::vector<MarkdownHeading> headingsOf(std::u16string_view markdown) {
  std::vector<MarkdownHeading> headings;
  std::optional<Fence> open;
  Units previous;
  size_t previousStart = 0;
  for (size_t start = 0; start < markdown.size();) {
    const size_t end = std::min(markdown.find(u'\n', start), markdown.size() - 1) + 1;
    const Units line = trimmedEnd(markdown.substr(start, std::min(end - start, LINE_WINDOW)));
    const auto fence = fenceAt(line);
    bool isText = false;
    if (open) {
      if (fence && closes(*open, *fence)) open.reset();
    } else if (fence && opens(*fence)) {
      open = fence;
    } else if (auto text = hashHeading(line)) {
      headings.push_back({std::move(*text), start, end});
    } else if (isUnderline(line) && !isNoParagraph(previous)) {
      headings.push_back({headingText(previous), previousStart, end});
    } else {
      isText = true;
    }
    previous = isText ? line : Units();
    previousStart = isText ? start : end;
    start = end;
  }
  return headings;
}

}  // namespace tessera
