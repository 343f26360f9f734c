#include "json/body.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>

#include "common/chunk_text.hpp"
#include "common/usable_vector.hpp"
#include "json/base64.hpp"
#include "json/json_skip.hpp"
#include "json/number.hpp"
#include "kernels/kernels.hpp"

namespace tessera {

/// Reads the members of an object, whose bracket is at `at`. `value(name, at)` returns the position after a value, or
/// null for one that is not valid. Returns the position after the object, or null when it is not valid.
template <typename Value>
static const char* readMembers(const char* at, const char* end, Value value) {
  at = skipJsonSpace(at + 1, end);
  if (at < end && *at == '}') return at + 1;
  std::u16string name;
  while (at < end && *at == '"') {
    const char* const nameEnd = skipJsonValue(at, end);
    if (nameEnd == nullptr) return nullptr;
    decodeJsonString({at + 1, nameEnd - 1}, name);
    at = skipJsonSpace(nameEnd, end);
    if (at == end || *at != ':') return nullptr;
    at = value(name, skipJsonSpace(at + 1, end));
    if (at == nullptr) return nullptr;
    at = skipJsonSpace(at, end);
    if (at == end) return nullptr;
    if (*at == '}') return at + 1;
    if (*at != ',') return nullptr;
    at = skipJsonSpace(at + 1, end);
  }
  return nullptr;
}

namespace {

/// True for the name of an element: a whole number below 2^32 - 1, as JavaScript writes it.
bool isElementName(std::u16string_view name) {
  constexpr std::u16string_view LARGEST = u"4294967294";
  if (name.empty() || name.size() > LARGEST.size() || (name[0] == u'0' && name.size() > 1)) return false;
  if (!std::ranges::all_of(name, [](char16_t unit) { return unit >= u'0' && unit <= u'9'; })) return false;
  return name.size() < LARGEST.size() || name <= LARGEST;
}

/// The order of an object's members in JavaScript: numbered members come first, in ascending order, and the others
/// remain as they are.
bool isBefore(const std::u16string& a, const std::u16string& b) {
  if (!isElementName(a)) return false;
  if (!isElementName(b)) return true;
  return a.size() == b.size() ? a < b : a.size() < b.size();
}

bool isWithin(const GivenOption& option, double least, double most) {
  return option.kind == GivenOption::NUMBER && option.number >= least && option.number <= most;
}

bool isGiven(const GivenOption& option) {
  return option.kind == GivenOption::NUMBER || option.kind == GivenOption::OTHER;
}

/// A member that occurs again replaces the one before, as JSON.parse has it.
class BodyParser {
 public:
  BodyParser(const char* start, const char* end, SearchBody& out, SearchFaults& faults)
      : start_(start), end_(end), out_(out), faults_(faults) {}

  bool parse() {
    out_.vector.clear();
    out_.ignored.clear();
    faults_ = {};
    const char* at = skipJsonSpace(start_, end_);
    const bool isObject = at < end_ && *at == '{';
    const auto member = [this](const std::u16string& name, const char* value) {
      return readMember(name, value);
    };
    at = isObject ? readMembers(at, end_, member) : skipJsonValue(at, end_);
    if (at == nullptr || skipJsonSpace(at, end_) != end_) {
      faults_.body = start_ == end_ ? "required" : "json";
    } else if (!isObject) {
      faults_.body = "object";
    } else {
      const bool hasOptions = takeOptions();
      return checkVector(hasOptions) && hasOptions;
    }
    return false;
  }

 private:
  const char* readMember(const std::u16string& name, const char* at) {
    if (name == u"vector") return readVector(at);
    if (name == u"dimension") return readOption(faults_.dimension, at);
    if (name == u"limit") return readOption(faults_.limit, at);
    if (name == u"threshold") return readOption(faults_.threshold, at);
    if (name != u"filter") ignore(name);
    return skipJsonValue(at, end_);
  }

  void ignore(const std::u16string& name) {
    auto& names = out_.ignored;
    if (name.empty() || std::ranges::find(names, name) != names.end()) return;
    names.insert(std::ranges::upper_bound(names, name, isBefore), name);
    if (names.size() > MAX_IGNORED_FIELDS) names.pop_back();
  }

  const char* readOption(GivenOption& option, const char* at) {
    const char* const after = parseDouble(at, end_, option.number);
    const bool isNull = at < end_ && *at == 'n';
    option.kind = after != nullptr ? GivenOption::NUMBER
                  : isNull         ? GivenOption::NULL_VALUE
                                   : GivenOption::OTHER;
    return after != nullptr ? after : skipJsonValue(at, end_);
  }

  /// Takes the options. Returns false when one of them is faulty.
  bool takeOptions() {
    const GivenOption &dimension = faults_.dimension, &limit = faults_.limit, &threshold = faults_.threshold;
    const bool isWhole = isWithin(dimension, 0, MAX_DIMENSION) && dimension.number == std::floor(dimension.number);
    if (!isWhole || dimensionSlot(static_cast<uint32_t>(dimension.number)) < 0) return false;
    if (isGiven(limit) && !isWithin(limit, MIN_LIMIT, MAX_LIMIT)) return false;
    if (isGiven(threshold) && !isWithin(threshold, MIN_THRESHOLD, MAX_THRESHOLD)) return false;
    out_.dimension = static_cast<uint32_t>(dimension.number);
    out_.limit = isGiven(limit) ? static_cast<uint32_t>(limit.number) : DEFAULT_LIMIT;
    out_.threshold = isGiven(threshold) ? threshold.number : DEFAULT_THRESHOLD;
    return true;
  }

  void addFault(const char* rule, size_t number = 0) {
    if (faults_.vector.size() < MAX_FIELD_FAULTS) faults_.vector.push_back({rule, number});
  }

  const char* readVector(const char* at) {
    hasVector_ = true;
    elements_ = 0;
    faults_.vector.clear();
    if (at < end_ && *at == '[') return readArray(at + 1);
    if (at < end_ && *at == '"') return readText(at);
    addFault("form");
    return skipJsonValue(at, end_);
  }

  /// Makes room for elements. It only grows, because a body may have its vector many times.
  void reserveElements(size_t count) {
    if (out_.vector.size() < count) out_.vector.resize(count);
  }

  const char* readArray(const char* at) {
    at = skipJsonSpace(at, end_);
    if (at < end_ && *at == ']') return at + 1;
    reserveElements(MAX_DIMENSION);
    while (true) {
      if (elements_ < MAX_DIMENSION) {
        float* const next = out_.vector.data() + elements_;
        elements_ += kernels().parseFractions(at, end_, next, MAX_DIMENSION - elements_);
      }
      at = readElement(skipJsonSpace(at, end_));
      if (at == nullptr) return nullptr;
      at = skipJsonSpace(at, end_);
      if (at == end_) return nullptr;
      if (*at == ']') return at + 1;
      if (*at++ != ',') return nullptr;
    }
  }

  /// Reads an element. Those beyond the longest vector are only counted and checked.
  const char* readElement(const char* at) {
    const size_t index = elements_++;
    float value;
    const char* const after = parseFloat(at, end_, value);
    if (after == nullptr) {
      addFault("number", index);
      return skipJsonValue(at, end_);
    }
    if (!std::isfinite(value)) addFault("float32", index);
    if (index < MAX_DIMENSION) out_.vector[index] = value;
    return after;
  }

  const char* readText(const char* at) {
    // Nearly every vector ends at the first quotation mark and has no escapes, so it is base64 as it is.
    const void* const quote = std::memchr(at + 1, '"', static_cast<size_t>(end_ - at - 1));
    const char* const first = static_cast<const char*>(quote);
    if (first != nullptr && decodeElements({at + 1, first})) return first + 1;
    const char* const after = skipJsonValue(at, end_);
    if (after == nullptr) return nullptr;
    std::u16string text;
    decodeJsonString({at + 1, after - 1}, text);
    std::string base64;
    for (const char16_t unit : text) base64 += unit < 0x80 ? static_cast<char>(unit) : '?';
    if (text.size() > MAX_BASE64_CHARS) {
      addFault("text-length");
    } else if (!decodeElements(base64)) {
      addFault("form");
    }
    return after;
  }

  /// Returns false for a text that is not base64 of whole elements, or too long.
  bool decodeElements(std::string_view base64) {
    if (base64.size() > MAX_BASE64_CHARS) return false;
    reserveElements(base64.size() / sizeof(float) + 1);
    size_t bytes = 0;
    auto* const to = reinterpret_cast<uint8_t*>(out_.vector.data());
    if (!decodeBase64(base64, to, out_.vector.size() * sizeof(float), bytes)) return false;
    if (bytes % sizeof(float) != 0) return false;
    elements_ = bytes / sizeof(float);
    for (size_t i = 0; i < elements_; i++) {
      if (!std::isfinite(out_.vector[i])) addFault("float32", i);
    }
    return true;
  }

  /// Checks the vector as a whole, if its elements have no faults. Returns false when it is faulty.
  bool checkVector(bool hasDimension) {
    if (!hasVector_) {
      addFault("required");
    } else if (faults_.vector.empty()) {
      if (elements_ < DIMENSIONS[0] || elements_ > MAX_DIMENSION) {
        addFault("length", elements_);
      } else if (hasDimension && elements_ != out_.dimension) {
        addFault("dimension", elements_);
      } else if (!isUsableVector(out_.vector.data(), elements_)) {
        addFault("zeros");
      }
    }
    if (!faults_.vector.empty()) return false;
    out_.vector.resize(elements_);
    return true;
  }

  const char* const start_;
  const char* const end_;
  SearchBody& out_;
  SearchFaults& faults_;
  /// The number of elements of the vector.
  size_t elements_ = 0;
  bool hasVector_ = false;
};

/// Skips the value of a member. The elements of an array without texts and arrays are not examined.
const char* skipMember(const char* at, const char* end) {
  if (at == end || *at != '[') return skipJsonValue(at, end);
  const std::string_view rest(at + 1, end);
  const std::string_view elements = rest.substr(0, rest.find(']'));
  const bool isFlat = elements.size() < rest.size() && elements.find('"') == elements.npos &&
                      elements.find('[') == elements.npos;
  return isFlat ? elements.data() + elements.size() + 1 : skipJsonValue(at, end);
}

}  // namespace

bool parseSearchBody(const uint8_t* data, size_t length, SearchBody& out, SearchFaults& faults) {
  const char* const text = reinterpret_cast<const char*>(data);
  return BodyParser(text, text + length, out, faults).parse();
}

std::optional<Span> findFilter(const uint8_t* data, size_t length) {
  const char* const start = reinterpret_cast<const char*>(data);
  const char* const end = start + length;
  const char* const at = skipJsonSpace(start, end);
  if (at == end || *at != '{') return std::nullopt;
  std::optional<Span> filter;
  const auto member = [&](const std::u16string& name, const char* value) {
    const char* const after = skipMember(value, end);
    if (after != nullptr && name == u"filter") {
      filter = {static_cast<size_t>(value - start), static_cast<size_t>(after - start)};
    }
    return after;
  };
  return readMembers(at, end, member) == nullptr ? std::nullopt : filter;
}

}  // namespace tessera
