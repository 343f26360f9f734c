#include "text/page/plain_text.hpp"

#include <algorithm>
#include <optional>

#include "text/page/markdown_units.hpp"

namespace tessera {

namespace {

/// A fence, or the marker of a heading, list or quote, at the start of a line. Returns where the text
/// of the line starts.
size_t lineTextAt(Units text, size_t line) {
  size_t at = line;
  while (isBlank(unitAt(text, at))) at++;
  const char16_t first = unitAt(text, at);
  if (first == u'`' || first == u'~') {
    if (countOf(text, at, first) >= 3) return std::min(text.find(u'\n', at), text.size());
    return line;
  }
  size_t end = at;
  if (first == u'#') {
    const size_t hashes = countOf(text, at, u'#');
    if (hashes > 6) return line;
    end += hashes;
  } else if (first == u'-' || first == u'+' || first == u'*' || first == u'>') {
    end++;
  } else {
    while (end < at + 3 && isDigit(unitAt(text, end))) end++;
    if (end == at || (unitAt(text, end) != u'.' && unitAt(text, end) != u')')) return line;
    end++;
  }
  if (!isBlank(unitAt(text, end))) return line;
  while (isBlank(unitAt(text, end))) end++;
  return end;
}

/// The end of a tag that starts at the position; the position itself if there is none.
size_t endOfTag(Units text, size_t position) {
  const size_t name = position + (unitAt(text, position + 1) == u'/' ? 2 : 1);
  if (!isLetter(unitAt(text, name))) return position;
  const size_t end = text.find_first_of(u"<>", name);
  return end != Units::npos && text[end] == u'>' ? end + 1 : position;
}

/// The part of a link behind its text.
struct LinkTarget {
  size_t start;
  size_t end;
};

std::optional<LinkTarget> linkAt(Units text, size_t position) {
  if (unitAt(text, position) != u'[') return std::nullopt;
  const size_t close = text.find_first_of(u"[]", position + 1);
  if (close == Units::npos || text[close] != u']' || unitAt(text, close + 1) != u'(') {
    return std::nullopt;
  }
  for (size_t at = close + 2; at < text.size() && text[at] != u'(' && !isSpace(text[at]); at++) {
    if (text[at] == u')') return LinkTarget{close, at + 1};
  }
  return std::nullopt;
}

}  // namespace

void plainTextOf(std::u16string_view markdown, std::u16string& out) {
  out.clear();
  bool isSpaced = false;
  LinkTarget target{Units::npos, 0};
  for (size_t i = lineTextAt(markdown, 0); i < markdown.size();) {
    if (i == target.start) {
      i = target.end;
      continue;
    }
    const char16_t unit = markdown[i];
    size_t next = i;
    if (unit == u'\n') next = lineTextAt(markdown, i + 1);
    else if (unit == u'|' || isSpace(unit)) next = i + 1;
    else if (unit == u'<') next = endOfTag(markdown, i);
    if (next > i) {
      isSpaced = true;
      i = next;
      continue;
    }
    if (unit == u'[') {
      if (const auto link = linkAt(markdown, i)) {
        target = *link;
        next++;
      }
    } else if (unit == u'*' || unit == u'`' || unit == u'~' ||
               (unit == u'!' && linkAt(markdown, i + 1))) {
      next++;
    }
    if (next > i) {
      i = next;
      continue;
    }
    if (isSpaced && !out.empty()) out += u' ';
    isSpaced = false;
    out += markdown[i++];
  }
}

}  // namespace tessera
