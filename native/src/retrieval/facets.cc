#include "retrieval/facets.hpp"

#include "fields/field_filter.hpp"
#include "fields/value_count.hpp"
#include "json/write.hpp"

namespace tessera {

/// Maximum values of a facet, the most frequent ones, and the length of the longest that is listed, in UTF-16 units.
static constexpr size_t FACET_VALUES_MAX = 100;
static constexpr size_t FACET_VALUE_MAX_CHARS = 1'024;

using Clock = std::chrono::steady_clock;

/// The numbers of the versions that the fields know.
static std::vector<uint32_t> numbersOf(const FieldStore& store, const std::vector<std::string_view>& versions) {
  const auto lock = store.reading();
  std::vector<uint32_t> set((store.versions() + 31) / 32, 0);
  for (const std::string_view version : versions) {
    const auto number = store.numberOf(VersionKey::of(version));
    if (number) set[*number >> 5] |= 1u << (*number & 31);
  }
  return set;
}

static void appendFacet(std::string& json, const ValueCount& count, bool areAll) {
  json += R"({"values":)";
  json += count.json();
  json += R"(,"total":)";
  appendNumber(json, count.distinct());
  json += R"(,"exact":)";
  json += areAll && !count.hasOthers() ? "true" : "false";
  json += '}';
}

bool appendFacets(std::string& json, const FacetRequest& request, const MatchedFiles& files) {
  const auto end = Clock::now() + request.maxTime;
  const auto& [store, chunks] = request.counted;
  const std::vector<uint32_t> versions = numbersOf(*store, files.versions);
  json.back() = ',';
  json += R"("facets":{)";
  for (const std::u16string& name : request.names) {
    if (json.back() != '{') json += ',';
    appendString(json, name);
    json += ':';
    auto [root, path] = fieldNamed(name);
    ValueCount count(store, {root, std::move(path), versions, chunks, FACET_VALUES_MAX, FACET_VALUE_MAX_CHARS});
    while (!count.step()) {
      if (Clock::now() > end) return false;
    }
    appendFacet(json, count, files.areAll);
  }
  json += "}}";
  return true;
}

}  // namespace tessera
