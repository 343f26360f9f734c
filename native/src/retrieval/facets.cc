#include "retrieval/facets.hpp"

#include <algorithm>

#include "common/limits.hpp"
#include "fields/field_filter.hpp"
#include "fields/value_count.hpp"
#include "json/write.hpp"

namespace tessera {

/// Maximum values of a facet, the most frequent ones.
static constexpr size_t FACET_VALUES_MAX = 100;
/// Versions whose numbers are looked up before the writer may go on.
static constexpr size_t STEP_VERSIONS = 1'024;

using Clock = std::chrono::steady_clock;

namespace {

/// The versions to count, by their numbers.
struct Numbered {
  std::vector<uint32_t> set;
  /// Whether the fields know all of them.
  bool areAll = true;
};

Numbered numbersOf(const FieldStore& store, const std::vector<std::string_view>& versions) {
  Numbered numbered;
  std::vector<VersionKey> keys;
  for (size_t at = 0; at < versions.size(); at += STEP_VERSIONS) {
    keys.clear();
    const size_t end = std::min(versions.size(), at + STEP_VERSIONS);
    for (size_t i = at; i < end; i++) keys.push_back(VersionKey::of(versions[i]));
    const auto lock = store.reading();
    numbered.set.resize((store.versions() + 31) / 32);
    for (const VersionKey& key : keys) {
      const auto number = store.numberOf(key);
      if (number) numbered.set[*number >> 5] |= 1u << (*number & 31);
      else numbered.areAll = false;
    }
  }
  return numbered;
}

void appendFacet(std::string& json, const ValueCount& count, bool areAll) {
  json += R"({"values":)";
  json += count.json();
  json += R"(,"total":)";
  appendNumber(json, count.distinct());
  json += R"(,"exact":)";
  json += areAll && !count.hasOthers() ? "true" : "false";
  json += '}';
}

}  // namespace

bool appendFacets(std::string& json, const FacetRequest& request, const MatchedFiles& files) {
  const auto end = Clock::now() + request.maxTime;
  const auto& [store, chunks] = request.counted;
  const auto [versions, areAll] = numbersOf(*store, files.versions);
  json.back() = ',';
  json += R"("facets":{)";
  for (const std::u16string& name : request.names) {
    if (json.back() != '{') json += ',';
    appendString(json, name);
    json += ':';
    auto [root, path] = fieldNamed(name);
    ValueCount count(store, {root, std::move(path), versions, chunks, FACET_VALUES_MAX, MAX_FACET_VALUE_CHARS});
    while (!count.step()) {
      if (Clock::now() > end) return false;
    }
    appendFacet(json, count, files.areAll && areAll);
  }
  json += "}}";
  return true;
}

}  // namespace tessera
