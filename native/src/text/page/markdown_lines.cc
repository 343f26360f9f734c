#include "text/page/markdown_lines.hpp"

namespace tessera {

/// Characters of an underline of a heading, a rule, or the line below the head of a table.
static constexpr Units RULE = u"-=*_|:";
static constexpr size_t RULE_LENGTH_MIN = 3;

bool isFence(Units text, size_t line) {
  size_t at = line;
  while (isBlank(unitAt(text, at)) || unitAt(text, at) == u'>') at++;
  const char16_t first = unitAt(text, at);
  return (first == u'`' || first == u'~') && countOf(text, at, first) >= 3;
}

static bool isRule(Units line) {
  size_t marks = 0;
  for (const char16_t unit : line) {
    if (RULE.find(unit) == Units::npos && !isSpace(unit)) return false;
    marks += unit != u'|' && unit != u':' && !isSpace(unit) ? 1 : 0;
  }
  return marks >= RULE_LENGTH_MIN;
}

/// A definition of a link, `[label]: /address`, but not that of a footnote.
static bool isDefinition(Units line) {
  if (unitAt(line, 0) != u'[' || unitAt(line, 1) == u'^') return false;
  const size_t close = line.find_first_of(u"[]", 1);
  return close != Units::npos && close > 1 && line[close] == u']' && unitAt(line, close + 1) == u':';
}

/// An import or export of MDX.
static bool isModule(Units line) {
  if (unitAt(line, 0) != u'i' && unitAt(line, 0) != u'e') return false;
  const bool isImport = line.starts_with(u"import ") && line.find_first_of(u"'\"") != Units::npos;
  return (isImport && (line.find(u" from ") != Units::npos || line[7] == u'"' || line[7] == u'\'')) ||
         line.starts_with(u"export const ") || line.starts_with(u"export default ") ||
         line.starts_with(u"export {") || line.starts_with(u"export function ");
}

/// The end of the marker of a heading, list or quote that starts at the position; the position without a marker.
static size_t endOfMarker(Units text, size_t at) {
  const char16_t first = unitAt(text, at);
  size_t end = at;
  if (first == u'#') {
    end += countOf(text, at, u'#');
    if (end > at + 6) return at;
  } else if (first == u'>') {
    return at + 1;
  } else if (first == u'-' || first == u'+' || first == u'*') {
    end++;
  } else {
    while (end < at + 3 && isDigit(unitAt(text, end))) end++;
    if (end == at || (unitAt(text, end) != u'.' && unitAt(text, end) != u')')) return at;
    end++;
  }
  return isBlank(unitAt(text, end)) ? end : at;
}

size_t lineTextAt(Units text, size_t line, size_t lineEnd) {
  const Units whole = text.substr(line, lineEnd - line);
  if (isRule(whole) || isDefinition(trimmed(whole)) || isModule(whole)) return line + whole.size();
  size_t at = line;
  while (true) {
    while (isBlank(unitAt(text, at))) at++;
    const size_t end = endOfMarker(text, at);
    if (end == at) break;
    at = end;
  }
  size_t end = at;
  if (startsAt(text, at, u"[!") && isLetter(unitAt(text, at + 2))) {
    end = text.find_first_of(u"]\n", at);
    return end != Units::npos && text[end] == u']' ? end + 1 : at;
  }
  if (startsAt(text, at, u":::")) {
    end = at + countOf(text, at, u':');
    while (isWord(unitAt(text, end))) end++;
  }
  return end;
}

}  // namespace tessera
