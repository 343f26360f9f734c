// A concurrent workload for sanitizers: one thread adds versions to fields, renumbers and shares them. Others count the
// values of the shared fields.
//
// Usage: fields SECONDS. It fails for a wrong count. A sanitizer ends it for any other error.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "fields/shared_fields.hpp"
#include "fields/value_count.hpp"

using namespace tessera;

namespace {

constexpr uint32_t VERSIONS = 2'000;
constexpr uint32_t FILTERED_CHUNKS = 1'000;
const std::string PROJECT = "project";
const std::string FILTERED = "scope#filter";

std::atomic<bool> stopping{false};

[[noreturn]] void fail(const char* reason) {
  std::fprintf(stderr, "%s\n", reason);
  std::abort();
}

VersionKey keyOf(uint32_t number) { return VersionKey::of(std::to_string(number)); }

std::vector<uint32_t> firstNumbers(uint32_t count) {
  std::vector<uint32_t> set((count + 31) / 32, ~0u);
  if (count % 32 > 0) set.back() = (1u << count % 32) - 1;
  return set;
}

/// Adds versions, each with a tag that all have, two chunks and a part that one of them has. Returns the number of
/// rounds.
uint32_t keepAdding(std::chrono::seconds duration) {
  const auto until = std::chrono::steady_clock::now() + duration;
  uint32_t rounds = 0;
  for (; std::chrono::steady_clock::now() < until; rounds++) {
    auto store = std::make_shared<FieldStore>();
    SharedFields::instance().share(PROJECT, store);
    for (uint32_t i = 0; i < VERSIONS; i++) {
      store->add(keyOf(i), u"a.md", u"{\"tag\":\"all\",\"n\":[1,2]}", u"[{\"part\":1},{}]", 2);
      if (2 * i == FILTERED_CHUNKS) {
        auto chunks = std::make_shared<const std::vector<uint32_t>>(firstNumbers(FILTERED_CHUNKS));
        SharedFields::instance().setScope(PROJECT, FILTERED, {store, std::move(chunks)});
      }
    }
    SharedFields::instance().dropScope(PROJECT, FILTERED);
    store = store->kept(firstNumbers(VERSIONS / 2));
    SharedFields::instance().share(PROJECT, store);
  }
  SharedFields::instance().drop(PROJECT);
  return rounds;
}

void countOnce(const CountedScope& counted, FieldRoot root, std::u16string path) {
  const auto& [store, chunks] = counted;
  uint32_t versions = 0;
  {
    const auto lock = store->reading();
    versions = store->versions();
    if (versions > 0 && store->numberOf(keyOf(versions - 1)) != versions - 1) fail("a version has another number");
  }
  ValueCount count(store, {root, std::move(path), firstNumbers(versions), chunks, 3, 8});
  while (!count.step()) continue;
  // Half of the chunks of a filtered scope are the first ones of their versions.
  const uint32_t expected = root == FieldRoot::frontmatter ? versions : FILTERED_CHUNKS / 2;
  if (count.files() != expected || count.json().empty()) fail("a wrong number of files was counted");
}

void keepCounting() {
  while (!stopping) {
    if (const auto all = SharedFields::instance().find(PROJECT, nullptr)) {
      countOnce(*all, FieldRoot::frontmatter, u"tag");
    }
    if (const auto filtered = SharedFields::instance().find(PROJECT, &FILTERED)) {
      countOnce(*filtered, FieldRoot::metadata, u"part");
    }
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) fail("usage: fields SECONDS");
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; i++) threads.emplace_back(keepCounting);
  const uint32_t rounds = keepAdding(std::chrono::seconds(std::atoi(arguments[1])));
  stopping = true;
  for (std::thread& thread : threads) thread.join();
  if (rounds == 0) fail("nothing was added");
  std::printf("%u rounds\n", rounds);
  return 0;
}
