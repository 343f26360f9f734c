// Search bodies: as they are, and as one element or member of a body that is valid otherwise.
#include "json/body.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "check.hpp"
#include "json/json_skip.hpp"

using tessera::SearchBody;

static constexpr uint32_t DIMENSION = 768;

static std::string frame(const std::string& lastElement, const std::string& members) {
  std::string text = "{\"vector\":[";
  for (uint32_t i = 1; i < DIMENSION; i++) text += "0.25,";
  return text + lastElement + "],\"dimension\":768" + members + "}";
}

static bool parse(const std::string& text, SearchBody& out) {
  // A copy of exactly this size, so that reading beyond its end is noticed.
  const std::vector<uint8_t> bytes(text.begin(), text.end());
  return tessera::parseSearchBody(bytes.data(), bytes.size(), out);
}

static void checkBody(const std::string& text) {
  SearchBody body;
  if (!parse(text, body)) return;
  CHECK(body.vector.size() == body.dimension);
  CHECK(std::ranges::all_of(body.vector, [](float element) { return std::isfinite(element); }));
  CHECK(std::ranges::any_of(body.vector, [](float element) { return element != 0; }));
  CHECK(body.limit >= 1 && body.limit <= tessera::MAX_LIMIT);
  CHECK(body.threshold >= 0 && body.threshold <= 1);
  CHECK(body.ignoredCount <= tessera::MAX_IGNORED_FIELDS);
  const auto names = std::ranges::count(body.ignored, ',') + (body.ignored.empty() ? 0 : 1);
  CHECK(names == body.ignoredCount);
  // A reused object is filled like a new one.
  SearchBody again = body;
  CHECK(parse(text, again));
  CHECK(again.vector == body.vector && again.limit == body.limit);
  CHECK(again.threshold == body.threshold && again.ignored == body.ignored);
}

/// Checks that a filter is found within the body, and that an accepted body has its filter there.
static void checkFilter(const std::string& text) {
  const std::vector<uint8_t> bytes(text.begin(), text.end());
  const auto span = tessera::findFilter(bytes.data(), bytes.size());
  if (!span) return;
  CHECK(span->start < span->end && span->end < bytes.size() + 1);
  CHECK(bytes[span->start] == '{' && bytes[span->end - 1] == '}');
  SearchBody body;
  CHECK(!tessera::parseSearchBody(bytes.data(), bytes.size(), body, span->start + 1));
  tessera::parseSearchBody(bytes.data(), bytes.size(), body, span->start);
}

/// Checks that skipping a value ends exactly at the end of the value.
static void checkSkip(const std::string& text) {
  const std::vector<char> bytes(text.begin(), text.end());
  const char* first = bytes.data();
  const char* end = first + bytes.size();
  const char* after = tessera::skipJsonValue(first, end);
  if (after == nullptr) return;
  CHECK(after > first && after <= end);
  CHECK(tessera::skipJsonValue(first, after) == after);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data + 1), size - 1);
  switch (data[0] % 5) {
    case 0:
      checkBody(text);
      break;
    case 1:
      checkBody(frame(text, ""));
      break;
    case 2:
      checkBody(frame("0.5", "," + text));
      break;
    case 3:
      checkFilter(frame("0.5", "," + text));
      checkFilter(text);
      break;
    default:
      checkSkip(text);
  }
  return 0;
}
