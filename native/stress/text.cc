// A concurrent workload of texts for sanitizers: threads build segments, one merges them, and others look up words in
// the segments that there are meanwhile.
//
// Usage: text SECONDS FOLDER. It fails for a lookup that misses a document. A thread still reads words while the process
// exits. A sanitizer ends it for any other error.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "text/query/lookup.hpp"
#include "text/segment/merge.hpp"
#include "text/segment/segment_writer.hpp"

using namespace tessera;

namespace {

/// Documents of a new segment.
constexpr uint32_t DOCUMENTS = 20;
/// Segments that are merged together.
constexpr size_t MERGED = 5;
/// Documents that a merge keeps at most, a multiple of 32.
constexpr uint32_t KEPT_DOCUMENTS = 320;
constexpr uint32_t BUILDERS = 2;
constexpr uint32_t READERS = 2;
constexpr uint32_t LEAST_MERGES = 2;
constexpr std::chrono::minutes PATIENCE{10};

/// Every document holds it.
constexpr char16_t KNOWN[] = u"lanterns";
constexpr const char16_t* WORDS[] = {u"oil ",       u"running ", u"Größe ",     u"naïve café ", u"検索データ",
                                     u"настройки ", u"24,500 ",  u"U.S.A. ",    u"C++ ",        u"getStaticProps ",
                                     u"👩‍💻 ",        u"हिन्दी ",     u"up-to-date ", u"e\u0301té ",  u"the "};

std::atomic<bool> stopping{false};
std::atomic<uint32_t> merges{0};

[[noreturn]] void fail(const char* reason) {
  std::fprintf(stderr, "%s\n", reason);
  std::abort();
}

/// The memory of a segment, which never changes.
struct Memory {
  std::vector<uint64_t> words;

  SegmentMemory allocate() {
    return [this](size_t bytes) -> std::span<uint8_t> {
      words.assign((bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t), 0);
      return {reinterpret_cast<uint8_t*>(words.data()), bytes};
    };
  }
  TextSegment read() const {
    return readSegment({reinterpret_cast<const uint8_t*>(words.data()), words.size() * sizeof(uint64_t)});
  }
};
using Segments = std::vector<std::shared_ptr<const Memory>>;

/// The segments of a view, as the threads exchange them.
std::mutex mutex;
Segments published;

Segments current() {
  const std::lock_guard lock(mutex);
  return published;
}

std::vector<TextSegment> read(const Segments& segments) {
  std::vector<TextSegment> all;
  for (const auto& segment : segments) all.push_back(segment->read());
  return all;
}

std::u16string someText(std::mt19937& random) {
  std::u16string text;
  for (uint32_t i = random() % 40; i > 0; i--) text += WORDS[random() % std::size(WORDS)];
  return text + u" " + KNOWN;
}

void keepBuilding(char16_t builder) {
  std::mt19937 random(builder);
  for (uint32_t number = 0; !stopping;) {
    if (current().size() > 2 * MERGED) {
      std::this_thread::yield();
      continue;
    }
    SegmentWriter writer;
    for (uint32_t i = 0; i < DOCUMENTS; i++) {
      const std::string digits = std::to_string(number++);
      const std::u16string path = std::u16string(1, builder) + std::u16string(digits.begin(), digits.end()) + u".md";
      writer.add({path, path, someText(random), {someText(random)}, {{u"tags", someText(random)}}, someText(random)});
    }
    const auto built = std::make_shared<Memory>();
    writer.write(built->allocate());
    const std::lock_guard lock(mutex);
    published.push_back(built);
  }
}

void keepMerging() {
  const std::vector<uint32_t> kept(KEPT_DOCUMENTS / 32, UINT32_MAX);
  while (!stopping) {
    Segments own = current();
    if (own.size() < MERGED) {
      std::this_thread::yield();
      continue;
    }
    own.resize(MERGED);
    auto segments = read(own);
    // The first one is that of the merge before.
    segments[0].inScope = {false, kept};
    const auto merged = std::make_shared<Memory>();
    mergeSegments(segments, merged->allocate());
    merges++;
    const std::lock_guard lock(mutex);
    published.erase(published.begin(), published.begin() + MERGED);
    published.insert(published.begin(), merged);
  }
}

void lookUpOnce(const Segments& own, LookupScratch& scratch, LookupAnswer& answer) {
  TextView view(read(own));
  LookupRequest request{};
  request.query = KNOWN;
  // The singular is a form of the word.
  request.analysed.words.push_back({u"lantern", u"lantern", 1, true, false, true, false, false, 0, 0, 0, 0});
  request.shard = {0, 1};
  request.limit = 10;
  lookUp(view, request, scratch, answer);
  if (answer.total != view.documents()) fail("a lookup misses a document");
}

void keepLookingUp() {
  LookupScratch scratch;
  LookupAnswer answer;
  while (!stopping) lookUpOnce(current(), scratch, answer);
}

[[noreturn]] void keepReadingWords() {
  while (true) Tokenizer::instance().tokensOf(u"Größe 検索データ e\u0301té 👩‍💻");
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) fail("usage: text SECONDS FOLDER");
  const std::chrono::seconds duration{std::atoi(arguments[1])};
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < BUILDERS; i++) threads.emplace_back(keepBuilding, static_cast<char16_t>(u'a' + i));
  for (uint32_t i = 0; i < READERS; i++) threads.emplace_back(keepLookingUp);
  threads.emplace_back(keepMerging);
  std::thread(keepReadingWords).detach();
  const auto start = std::chrono::steady_clock::now();
  const auto hasLasted = [&](auto time) { return std::chrono::steady_clock::now() - start >= time; };
  while (!hasLasted(duration) || (merges < LEAST_MERGES && !hasLasted(PATIENCE))) {
    std::this_thread::sleep_for(duration / 100);
  }
  stopping = true;
  for (std::thread& thread : threads) thread.join();
  if (merges < LEAST_MERGES) fail("hardly any segments were merged");
  std::printf("%u merges\n", merges.load());
  return 0;
}
