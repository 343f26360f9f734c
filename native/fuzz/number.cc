// JSON numbers, compared with the C library.
#include "json/number.hpp"

#include <bit>
#include <cstdlib>
#include <string>
#include <vector>

#include "check.hpp"

/// True for the grammar of JSON numbers, over the whole text.
static bool isJsonNumber(const std::string& text) {
  size_t at = 0;
  const auto digits = [&] {
    const size_t first = at;
    while (at < text.size() && tessera::isDigit(text[at])) at++;
    return at - first;
  };
  if (at < text.size() && text[at] == '-') at++;
  const bool zero = at < text.size() && text[at] == '0';
  const size_t whole = digits();
  if (whole == 0 || (zero && whole > 1)) return false;
  if (at < text.size() && text[at] == '.') {
    at++;
    if (digits() == 0) return false;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    at++;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) at++;
    if (digits() == 0) return false;
  }
  return at == text.size();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::vector<char> bytes(data, data + size);
  const char* first = bytes.data();
  const char* end = first + bytes.size();
  double wide = 0;
  float narrow = 0;
  const char* afterWide = tessera::parseDouble(first, end, wide);
  const char* afterNarrow = tessera::parseFloat(first, end, narrow);
  CHECK(afterNarrow == afterWide && tessera::skipNumber(first, end) == afterWide);
  if (afterWide != nullptr) {
    const std::string text(first, afterWide);
    CHECK(isJsonNumber(text));
    CHECK(std::bit_cast<uint64_t>(wide) == std::bit_cast<uint64_t>(std::strtod(text.c_str(), nullptr)));
  }
  if (afterNarrow != nullptr) {
    const std::string text(first, afterNarrow);
    CHECK(isJsonNumber(text));
    // JSON.parse and Math.fround round twice in total.
    const float rounded = static_cast<float>(std::strtod(text.c_str(), nullptr));
    CHECK(std::bit_cast<uint32_t>(narrow) == std::bit_cast<uint32_t>(rounded));
  }
  return 0;
}
