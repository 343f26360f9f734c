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

/// A copy of exactly this size, so that reading beyond its end is noticed.
static std::vector<uint8_t> copyOf(const std::string& text) { return {text.begin(), text.end()}; }

static void checkFaults(const tessera::SearchFaults& faults, size_t length) {
  if (faults.body != nullptr) return;
  CHECK(faults.vector.size() <= tessera::MAX_FIELD_FAULTS);
  for (const auto& fault : faults.vector) CHECK(fault.number <= length);
}

static void checkBody(const std::string& text) {
  const std::vector<uint8_t> bytes = copyOf(text);
  SearchBody body;
  tessera::SearchFaults faults;
  const bool isSearch = tessera::parseSearchBody(bytes.data(), bytes.size(), body, faults);
  CHECK(body.ignored.size() <= tessera::MAX_IGNORED_FIELDS);
  if (!isSearch) return checkFaults(faults, bytes.size());
  CHECK(faults.body == nullptr && faults.vector.empty());
  CHECK(body.vector.size() == body.dimension);
  CHECK(std::ranges::all_of(body.vector, [](float element) { return std::isfinite(element); }));
  CHECK(std::ranges::any_of(body.vector, [](float element) { return element != 0; }));
  CHECK(body.limit >= tessera::MIN_LIMIT && body.limit <= tessera::MAX_LIMIT);
  CHECK(body.threshold >= tessera::MIN_THRESHOLD && body.threshold <= tessera::MAX_THRESHOLD);
  // A reused object is filled like a new one.
  SearchBody again = body;
  CHECK(tessera::parseSearchBody(bytes.data(), bytes.size(), again, faults));
  CHECK(again.vector == body.vector && again.limit == body.limit);
  CHECK(again.threshold == body.threshold && again.ignored == body.ignored);
}

/// Checks that the filter of a body is found where a value is.
static void checkFilter(const std::string& text) {
  const std::vector<uint8_t> bytes = copyOf(text);
  const auto span = tessera::findFilter(bytes.data(), bytes.size());
  if (!span) return;
  CHECK(span->start < span->end && span->end < bytes.size());
  SearchBody body;
  tessera::SearchFaults faults;
  tessera::parseSearchBody(bytes.data(), bytes.size(), body, faults);
  if (faults.body != nullptr) return;
  const char* const start = reinterpret_cast<const char*>(bytes.data());
  CHECK(tessera::skipJsonValue(start + span->start, start + bytes.size()) == start + span->end);
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
