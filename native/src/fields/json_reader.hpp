// Reading the JSON texts that JSON.stringify writes: UTF-16 without white space.
#pragma once
#include <string>
#include <string_view>

namespace tessera {

/// Reads one value after another. Nothing is read beyond the end: a faulty text throws std::invalid_argument.
class JsonReader {
 public:
  explicit JsonReader(std::u16string_view text) : text_(text) {}

  /// The first character of the next value; 0 at the end.
  char16_t next() const { return at_ < text_.size() ? text_[at_] : u'\0'; }
  bool nextIsNumber() const { return next() == u'-' || (next() >= u'0' && next() <= u'9'); }

  /// Reads a string, with its escapes resolved.
  std::u16string string();
  /// Reads a number, as it is written.
  std::string number();
  /// Reads `true`, and false for any other literal.
  bool literal();
  /// Skips a value, however deep it is.
  void skip();
  /// Notes that no further value may follow.
  void end() const;

  /// Calls `visit()` before each element of an array, which it must read.
  template <typename Visit>
  void eachElement(const Visit& visit) {
    take(u'[');
    for (bool isFirst = true; next() != u']'; isFirst = false) {
      if (!isFirst) take(u',');
      visit();
    }
    take(u']');
  }

  /// Calls `visit(name)` before the value of each member of an object, which it must read.
  template <typename Visit>
  void eachMember(const Visit& visit) {
    take(u'{');
    for (bool isFirst = true; next() != u'}'; isFirst = false) {
      if (!isFirst) take(u',');
      const std::u16string name = string();
      take(u':');
      visit(name);
    }
    take(u'}');
  }

 private:
  void take(char16_t expected);
  char16_t any();
  char16_t escaped();
  /// Appends digits, at least one.
  void digits(std::string& read);
  void skipString();

  std::u16string_view text_;
  size_t at_ = 0;
};

}  // namespace tessera
