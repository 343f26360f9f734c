// Fields and filters of any text: each is refused or evaluated, in steps that end, and two ways to ask agree.
#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "check.hpp"
#include "fields/filter_results.hpp"
#include "fields/value_count.hpp"

using namespace tessera;

/// More steps than any filter of an input needs.
static constexpr int STEPS_MAX = 100'000;

/// The part of a text up to the next line feed, which is removed with it.
static std::u16string_view takeLine(std::u16string_view& text) {
  const size_t end = std::min(text.find(u'\n'), text.size());
  const std::u16string_view line = text.substr(0, end);
  text.remove_prefix(std::min(text.size(), end + 1));
  return line;
}

/// True unless the work refuses its input.
template <typename Work>
static bool accepts(const Work& work) {
  try {
    work();
    return true;
  } catch (const std::invalid_argument&) {
    return false;
  }
}

template <typename Stepped>
static void finish(Stepped& stepped) {
  int steps = 0;
  while (!stepped.step()) CHECK(++steps < STEPS_MAX);
}

static std::vector<uint32_t> matchesOf(const std::shared_ptr<FieldStore>& store, const std::u16string& filter) {
  FilterResults results(store, std::make_shared<Condition>(compileFilter(filter)));
  const std::vector<uint32_t> all(2, ~0u);
  results.begin(all);
  finish(results);
  CHECK(results.knows(std::span(all).first(std::min<size_t>(all.size(), (store->versions() + 31) / 32))));
  return results.versionsIn(all);
}

static void checkFilter(const std::shared_ptr<FieldStore>& store, const std::u16string& filter) {
  std::vector<uint32_t> matches;
  if (!accepts([&] { matches = matchesOf(store, filter); })) return;
  CHECK(std::ranges::all_of(matches, [&](uint32_t version) { return version < store->versions(); }));
  const std::u16string both = u"{\"$or\":[" + filter + u",{\"$not\":" + filter + u"}]}";
  std::vector<uint32_t> all;
  if (accepts([&] { all = matchesOf(store, both); })) CHECK(all.size() == store->versions());
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<char16_t> units(data, data + size);
  // Bytes from 0xc0 on stand for units of several kinds.
  for (char16_t& unit : units) {
    if (unit >= 0xc0) unit = static_cast<char16_t>(0xd700 + (unit & 0x3f) * 0x40);
  }
  std::u16string_view text(units.data(), units.size());
  const std::u16string filter(takeLine(text));
  const auto store = std::make_shared<FieldStore>();
  store->add(VersionKey::of("0"), u"a/b.md", u"{\"a\":1,\"b\":[\"x\",true]}", u"[{\"a\":\"y\"},{}]", 2);
  while (!text.empty() && store->versions() < 40) {
    const std::u16string_view path = takeLine(text);
    const std::u16string_view frontmatter = takeLine(text);
    const std::u16string_view metadata = takeLine(text);
    accepts([&] { store->add(VersionKey::of(std::to_string(store->versions())), path, frontmatter, metadata, 3); });
  }
  checkFilter(store, filter);
  std::vector<uint32_t> rows;
  std::vector<uint32_t> codes;
  for (size_t i = 0; i + 1 < size && i < 16; i += 2) {
    rows.push_back(data[i] & 0x1f);
    codes.push_back(data[i + 1] & 0x0f);
  }
  accepts([&] { store->restore(FieldRoot::metadata, nullptr, std::u16string(filter), rows, codes); });
  accepts([&] { store->restore(FieldRoot::path, nullptr, u"[\"q\",1.5,true]", rows, codes); });
  std::ranges::sort(rows);
  accepts([&] { store->restore(FieldRoot::frontmatter, &filter, u"[\"q\",1.5,true]", rows, codes); });
  accepts([&] { checkFilter(store, u"{\"metadata.a\":{\"$glob\":\"*\"},\"path\":{\"$gte\":\"a\"}}"); });
  const std::vector<uint32_t> held{0x55555555u, 0x55555555u};
  const auto kept = store->kept(held);
  CHECK(kept->versions() == (store->versions() + 1) / 2);
  checkFilter(kept, filter);
  for (const auto& fields : {store, kept}) {
    ValueCount count(fields, {FieldRoot::metadata, u"a", held, nullptr, 3, 8});
    finish(count);
    CHECK(count.files() <= fields->versions() && !count.json().empty());
  }
  return 0;
}
