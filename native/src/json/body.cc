#include "json/body.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>

#include "common/usable_vector.hpp"
#include "json/base64.hpp"
#include "json/json_skip.hpp"
#include "json/number.hpp"
#include "kernels/kernels.hpp"

namespace tessera {

namespace {

class BodyParser {
 public:
  BodyParser(const char* at, const char* end, SearchBody& out, size_t filterAt)
      : start_(at), at_(at), end_(end), filterAt_(filterAt), out_(out) {}

  bool parse() {
    out_ = SearchBody{std::move(out_.vector)};
    out_.vector.clear();
    if (!consume('{')) return false;
    if (consume('}')) return false;
    do {
      if (!member()) return false;
    } while (consume(','));
    if (!consume('}')) return false;
    skipSpace();
    // A filter that is not a member of the body itself belongs to an ignored field.
    return at_ == end_ && hasFilter_ == (filterAt_ > 0) && hasVector_ && hasDimension_ &&
           out_.vector.size() == out_.dimension && isUsableVector(out_.vector.data(), out_.vector.size());
  }

 private:
  void skipSpace() { at_ = skipJsonSpace(at_, end_); }

  /// Skips white space and consumes the character if it is next.
  bool consume(char wanted) {
    skipSpace();
    if (at_ == end_ || *at_ != wanted) return false;
    at_++;
    return true;
  }

  bool member() {
    std::string_view key;
    skipSpace();
    if (!asciiString(key) || !consume(':')) return false;
    skipSpace();
    if (key == "vector") return once(hasVector_) && vectorValue();
    if (key == "dimension") return once(hasDimension_) && dimensionValue();
    if (key == "limit") return once(hasLimit_) && limitValue();
    if (key == "threshold") return once(hasThreshold_) && thresholdValue();
    if (key == "filter") {
      if (!once(hasFilter_) || static_cast<size_t>(at_ - start_) != filterAt_) return false;
    } else if (!ignore(key)) {
      return false;
    }
    at_ = skipJsonValue(at_, end_);
    return at_ != nullptr;
  }

  static bool isPlain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_' || c == '-' || c == '.';
  }

  /// True for an ignored name. Ignored names are plain, so commas only separate them.
  bool isIgnored(std::string_view key) const {
    const std::string_view names = out_.ignored;
    for (size_t at = names.find(key); at != names.npos; at = names.find(key, at + 1)) {
      const size_t end = at + key.size();
      if ((at == 0 || names[at - 1] == ',') && (end == names.size() || names[end] == ',')) {
        return true;
      }
    }
    return false;
  }

  /// Adds the name of an unknown member. Returns false for a name that a header cannot show unchanged, which is left
  /// to the full parser.
  bool ignore(std::string_view key) {
    if (key.empty() || key.size() > MAX_IGNORED_FIELD_CHARS) return false;
    if (!std::all_of(key.begin(), key.end(), isPlain)) return false;
    // An object in JavaScript has its numbered members first.
    if (key[0] >= '0' && key[0] <= '9') return false;
    if (out_.ignoredCount == MAX_IGNORED_FIELDS || isIgnored(key)) return true;
    if (out_.ignoredCount++ > 0) out_.ignored += ',';
    out_.ignored += key;
    return true;
  }

  /// False when a member is repeated.
  static bool once(bool& seen) {
    if (seen) return false;
    return seen = true;
  }

  /// A string of printable ASCII without escapes.
  bool asciiString(std::string_view& out) {
    if (at_ == end_ || *at_ != '"') return false;
    const char* first = ++at_;
    while (at_ < end_ && *at_ != '"') {
      if (*at_ == '\\' || static_cast<unsigned char>(*at_) < 0x20 ||
          static_cast<unsigned char>(*at_) > 0x7e) {
        return false;
      }
      at_++;
    }
    if (at_ == end_) return false;
    out = {first, static_cast<size_t>(at_ - first)};
    at_++;
    return true;
  }

  bool vectorValue() {
    if (at_ < end_ && *at_ == '"') {
      std::string_view text;
      if (!asciiString(text)) return false;
      out_.vector.resize(MAX_DIMENSION);
      size_t bytes = 0;
      if (!decodeBase64(text, reinterpret_cast<uint8_t*>(out_.vector.data()),
                        MAX_DIMENSION * sizeof(float), bytes)) {
        return false;
      }
      if (bytes % sizeof(float) != 0) return false;
      out_.vector.resize(bytes / sizeof(float));
      return true;
    }
    return vectorArray();
  }

  bool vectorArray() {
    if (!consume('[')) return false;
    out_.vector.resize(MAX_DIMENSION);
    size_t count = 0;
    do {
      count += kernels().parseFractions(at_, end_, out_.vector.data() + count, MAX_DIMENSION - count);
      skipSpace();
      if (count == MAX_DIMENSION) return false;
      at_ = parseFloat(at_, end_, out_.vector[count++]);
      if (at_ == nullptr) return false;
    } while (consume(','));
    out_.vector.resize(count);
    return consume(']');
  }

  bool number(double& value) {
    at_ = parseDouble(at_, end_, value);
    return at_ != nullptr;
  }

  bool null() {
    if (end_ - at_ < 4 || std::memcmp(at_, "null", 4) != 0) return false;
    at_ += 4;
    return true;
  }

  bool dimensionValue() {
    double value;
    if (!number(value)) return false;
    if (!(value >= 0 && value <= MAX_DIMENSION) || value != std::floor(value)) return false;
    out_.dimension = static_cast<uint32_t>(value);
    return dimensionSlot(out_.dimension) >= 0;
  }

  bool limitValue() {
    if (null()) return true;
    double value;
    if (!number(value) || !(value >= 1 && value <= MAX_LIMIT)) return false;
    out_.limit = static_cast<uint32_t>(value);
    return true;
  }

  bool thresholdValue() {
    if (null()) return true;
    return number(out_.threshold) && out_.threshold >= 0 && out_.threshold <= 1;
  }

  const char* start_;
  const char* at_;
  const char* end_;
  const size_t filterAt_;
  SearchBody& out_;
  bool hasVector_ = false, hasDimension_ = false, hasLimit_ = false, hasThreshold_ = false;
  bool hasFilter_ = false;
};

}  // namespace

bool parseSearchBody(const uint8_t* data, size_t length, SearchBody& out, size_t filterAt) {
  const char* text = reinterpret_cast<const char*>(data);
  return BodyParser(text, text + length, out, filterAt).parse();
}

/// Skips a member. An array of numbers ends at its first bracket, so its numbers are not examined.
static const char* skipMember(const char* at, const char* end) {
  if (at == end || *at != '[') return skipJsonValue(at, end);
  const void* bracket = std::memchr(at, ']', end - at);
  return bracket == nullptr ? nullptr : static_cast<const char*>(bracket) + 1;
}

std::optional<Span> findFilter(const uint8_t* data, size_t length) {
  const char* const start = reinterpret_cast<const char*>(data);
  const char* const end = start + length;
  const auto next = [&](const char* at, char wanted) -> const char* {
    if (at == nullptr) return nullptr;
    at = skipJsonSpace(at, end);
    return at < end && *at == wanted ? at + 1 : nullptr;
  };
  for (const char* at = next(start, '{'); at != nullptr; at = next(at, ',')) {
    const char* const name = skipJsonSpace(at, end);
    if (name == end || *name != '"') return std::nullopt;
    const char* const nameEnd = skipJsonValue(name, end);
    at = next(nameEnd, ':');
    if (at == nullptr) return std::nullopt;
    at = skipJsonSpace(at, end);
    if (std::string_view(name, nameEnd - name) != "\"filter\"") {
      at = skipMember(at, end);
      continue;
    }
    const char* const after = at < end && *at == '{' ? skipJsonValue(at, end) : nullptr;
    if (after == nullptr) return std::nullopt;
    return Span{static_cast<size_t>(at - start), static_cast<size_t>(after - start)};
  }
  return std::nullopt;
}

}  // namespace tessera
