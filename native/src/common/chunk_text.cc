#include "common/chunk_text.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <climits>
#include <cstring>

#include "common/utf8.hpp"

namespace tessera {

namespace {

/// Reads members of an object one after another.
class MemberReader {
 public:
  explicit MemberReader(std::string_view json) : left_(json) {}

  bool skip(std::string_view expected) {
    if (!left_.starts_with(expected)) return false;
    left_.remove_prefix(expected.size());
    return true;
  }

  /// A string whose opening quote was skipped.
  bool string(std::string_view& raw) {
    for (size_t at = left_.find('"'); at != std::string_view::npos; at = left_.find('"', at + 1)) {
      size_t backslashes = 0;
      while (backslashes < at && left_[at - 1 - backslashes] == '\\') backslashes++;
      if (backslashes % 2 != 0) continue;
      raw = left_.substr(0, at);
      left_.remove_prefix(at + 1);
      return true;
    }
    return false;
  }

  std::string_view left() const { return left_; }

  bool number(uint64_t& value) {
    const auto result = std::from_chars(left_.data(), left_.data() + left_.size(), value);
    if (result.ec != std::errc()) return false;
    left_.remove_prefix(static_cast<size_t>(result.ptr - left_.data()));
    return true;
  }

 private:
  std::string_view left_;
};

/// Characters that are read together.
constexpr size_t WORD = sizeof(uint64_t);
constexpr size_t BLOCK = 2 * WORD;

/// The number of literal characters at the beginning of a word.
size_t plainCount(const char* text) {
  constexpr uint64_t ONES = 0x0101010101010101, HIGHEST = 0x8080808080808080;
  uint64_t word;
  std::memcpy(&word, text, WORD);
  // A byte that is a backslash becomes zero, from which the subtraction borrows.
  const uint64_t others = word ^ ONES * static_cast<uint64_t>('\\');
  const uint64_t special = (word | (others - ONES)) & HIGHEST;
  return static_cast<size_t>(std::countr_zero(special)) / CHAR_BIT;
}

/// Copies a block, and returns the number of literal characters at its beginning.
size_t copyPlain(const char* from, char16_t* to) {
  // The compiler knows that a local copy does not overlap the target, so it uses vector instructions.
  char block[BLOCK];
  std::memcpy(block, from, BLOCK);
  for (size_t i = 0; i < BLOCK; i++) to[i] = static_cast<unsigned char>(block[i]);
  const size_t plain = plainCount(block);
  return plain < WORD ? plain : WORD + plainCount(block + WORD);
}

uint32_t hexValue(char digit) {
  if (digit >= '0' && digit <= '9') return static_cast<uint32_t>(digit - '0');
  return static_cast<uint32_t>((digit | 0x20) - 'a' + 10);
}

char16_t unescaped(char letter) {
  switch (letter) {
    case 'b':
      return u'\b';
    case 'f':
      return u'\f';
    case 'n':
      return u'\n';
    case 'r':
      return u'\r';
    case 't':
      return u'\t';
    default:
      return static_cast<char16_t>(letter);
  }
}

}  // namespace

bool readChunkText(std::string_view json, ChunkText& chunk) {
  MemberReader reader(json);
  uint64_t number = 0;
  const bool isRead = reader.skip(R"({"id":")") && reader.string(chunk.id) &&
         reader.skip(R"(,"file_path":")") && reader.string(chunk.path) &&
         reader.skip(R"(,"file_id":")") && reader.string(chunk.fileId) &&
         reader.skip(R"(,"file_version_id":")") && reader.string(chunk.versionId) &&
         reader.skip(R"(,"index":)") && reader.number(chunk.index) &&
         reader.skip(R"(,"content":")") && reader.string(chunk.content) &&
         reader.skip(R"(,"start_offset":)") && reader.number(number) &&
         reader.skip(R"(,"end_offset":)") && reader.number(number) &&
         reader.skip(R"(,"token_count":)") && reader.number(number) &&
         reader.skip(R"(,"metadata":)");
  if (isRead) chunk.metadata = reader.left().substr(0, reader.left().size() - 1);
  return isRead;
}

void decodeJsonString(std::string_view raw, std::u16string& out) {
  // A character has at most as many units as bytes.
  out.resize(raw.size());
  char16_t* to = out.data();
  std::u16string other;
  for (size_t i = 0; i < raw.size();) {
    if (i + BLOCK <= raw.size()) {
      // The next characters overwrite the rest of the copied block.
      const size_t plain = copyPlain(raw.data() + i, to);
      to += plain;
      i += plain;
      if (plain == BLOCK) continue;
    }
    const char first = raw[i];
    if (first == '\\' && i + 1 < raw.size()) {
      if (raw[i + 1] == 'u' && i + 5 < raw.size()) {
        uint32_t unit = 0;
        for (size_t d = 2; d < 6; d++) unit = unit << 4 | hexValue(raw[i + d]);
        *to++ = static_cast<char16_t>(unit);
        i += 6;
      } else {
        *to++ = unescaped(raw[i + 1]);
        i += 2;
      }
    } else if (static_cast<unsigned char>(first) < 0x80) {
      *to++ = static_cast<char16_t>(first);
      i++;
    } else {
      size_t end = i;
      while (end < raw.size() && static_cast<unsigned char>(raw[end]) >= 0x80) end++;
      decodeUtf8({reinterpret_cast<const uint8_t*>(raw.data()) + i, end - i}, other);
      to = std::ranges::copy(other, to).out;
      i = end;
    }
  }
  out.resize(static_cast<size_t>(to - out.data()));
}

std::string jsonStringToUtf8(std::string_view raw) {
  // Paths and ids rarely have escapes.
  if (raw.find('\\') == std::string_view::npos) return std::string(raw);
  std::u16string units;
  decodeJsonString(raw, units);
  std::string text;
  for (size_t i = 0; i < units.size(); i++) {
    const uint32_t unit = units[i];
    const bool isSurrogate = unit >= 0xd800 && unit <= 0xdfff;
    const bool isPair = unit >= 0xd800 && unit <= 0xdbff && i + 1 < units.size() &&
                        units[i + 1] >= 0xdc00 && units[i + 1] <= 0xdfff;
    if (isPair) {
      appendUtf8(text, 0x10000 + ((unit & 0x3ff) << 10 | (units[++i] & 0x3ffu)));
    } else {
      appendUtf8(text, isSurrogate ? 0xfffd : unit);
    }
  }
  return text;
}

}  // namespace tessera
