#include "fields/json_reader.hpp"

#include <stdexcept>

namespace tessera {

static bool isBetween(char16_t unit, char16_t first, char16_t last) { return unit >= first && unit <= last; }

char16_t JsonReader::any() {
  if (at_ == text_.size()) throw std::invalid_argument("a JSON text has no end");
  return text_[at_++];
}

void JsonReader::take(char16_t expected) {
  if (any() != expected) throw std::invalid_argument("a JSON text is not valid");
}

void JsonReader::end() const {
  if (at_ < text_.size()) throw std::invalid_argument("a JSON text goes on after its end");
}

char16_t JsonReader::escaped() {
  const char16_t letter = any();
  switch (letter) {
    case u'b':
      return u'\b';
    case u'f':
      return u'\f';
    case u'n':
      return u'\n';
    case u'r':
      return u'\r';
    case u't':
      return u'\t';
    case u'u':
      break;
    default:
      return letter;
  }
  uint32_t unit = 0;
  for (int digit = 0; digit < 4; digit++) {
    const char16_t hex = any();
    const bool isLetter = isBetween(hex | 0x20, u'a', u'f');
    if (!isLetter && !isBetween(hex, u'0', u'9')) throw std::invalid_argument("an escape in a JSON text is not valid");
    unit = unit << 4 | static_cast<uint32_t>(isLetter ? (hex | 0x20) - u'a' + 10 : hex - u'0');
  }
  return static_cast<char16_t>(unit);
}

std::u16string JsonReader::string() {
  std::u16string read;
  take(u'"');
  for (char16_t unit = any(); unit != u'"'; unit = any()) read += unit == u'\\' ? escaped() : unit;
  return read;
}

void JsonReader::digits(std::string& read) {
  do {
    const char16_t unit = any();
    if (!isBetween(unit, u'0', u'9')) throw std::invalid_argument("a JSON text is not valid");
    read += static_cast<char>(unit);
  } while (isBetween(next(), u'0', u'9'));
}

std::string JsonReader::number() {
  std::string read;
  if (next() == u'-') read += static_cast<char>(any());
  digits(read);
  if (next() == u'.') {
    read += static_cast<char>(any());
    digits(read);
  }
  if ((next() | 0x20) == u'e') {
    read += static_cast<char>(any());
    if (next() == u'+' || next() == u'-') read += static_cast<char>(any());
    digits(read);
  }
  return read;
}

bool JsonReader::literal() {
  const bool isTrue = next() == u't';
  while (isBetween(next(), u'a', u'z')) at_++;
  return isTrue;
}

void JsonReader::skipString() {
  take(u'"');
  for (char16_t unit = any(); unit != u'"'; unit = any()) {
    if (unit == u'\\') any();
  }
}

void JsonReader::skip() {
  size_t depth = 0;
  do {
    const char16_t first = next();
    if (first == u'"') {
      skipString();
    } else if (first == u'[' || first == u'{') {
      depth++;
      at_++;
      continue;
    } else if (nextIsNumber()) {
      number();
    } else if (first == u']' || first == u'}') {
      if (depth == 0) throw std::invalid_argument("a JSON text is not valid");
      depth--;
      at_++;
    } else if (depth > 0 && (first == u',' || first == u':')) {
      at_++;
      continue;
    } else if (isBetween(first, u'a', u'z')) {
      literal();
    } else {
      throw std::invalid_argument("a JSON text is not valid");
    }
  } while (depth > 0);
}

}  // namespace tessera
