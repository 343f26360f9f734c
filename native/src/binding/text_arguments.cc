#include "binding/text_arguments.hpp"

#include <algorithm>
#include <cstring>

#include "common/limits.hpp"

namespace tessera {

/// native/text.ts states the same numbers.
static constexpr size_t WORD_NUMBERS = 8;
static constexpr size_t JOINT_NUMBERS = 3;
enum WordFlags : uint32_t {
  PREFIX = 1, MAY_BE_MISSPELT = 2, IDENTIFIER = 4, CHANCE = 8, CHARACTER = 16
};

TextThread& textThread() {
  static thread_local TextThread thread;
  return thread;
}

uint32_t viewOf(const Named& given) { return integerOf(given, 0, UINT32_MAX); }

TextView& openViewOf(const Named& given) {
  const auto view = textThread().views.find(viewOf(given));
  if (view == textThread().views.end()) throw Napi::Error::New(given.env, "the view is not open");
  return view->second;
}

Napi::Object pageOf(Napi::Env env, std::string_view json, uint64_t total, bool more,
                    const std::string& progress) {
  auto bytes = Napi::Uint8Array::New(env, json.size());
  std::memcpy(bytes.Data(), json.data(), json.size());
  const auto page = Napi::Object::New(env);
  page.Set("json", bytes);
  page.Set("total", Napi::Number::New(env, static_cast<double>(total)));
  page.Set("more", Napi::Boolean::New(env, more));
  page.Set("progress", Napi::String::New(env, more ? progress : std::string()));
  return page;
}

void readWords(const Fields& query, std::vector<AnalysedWord>& words) {
  const Named given = query["words"];
  const std::u16string texts = text16Of(given);
  const std::u16string raws = text16Of(query["raws"]);
  const auto numbers = arrayOf<uint32_t>(query["numbers"], napi_uint32_array);
  words.clear();
  size_t start = 0, rawStart = 0;
  for (size_t i = 0; i + WORD_NUMBERS <= numbers.size(); i += WORD_NUMBERS) {
    const size_t length = numbers[i];
    const uint32_t count = numbers[i + 1], flags = numbers[i + 2];
    const size_t rawLength = numbers[i + 4];
    const bool fits = length > 0 && length <= MAX_WORD_CHARS && length <= texts.size() - start &&
                      rawLength <= raws.size() - rawStart;
    if (!fits) {
      throwTypeError(given.env, "the lengths of the words do not fit their text");
    }
    const std::u16string raw = rawLength == 0 ? texts.substr(start, length) : raws.substr(rawStart, rawLength);
    words.push_back({texts.substr(start, length), raw, count, (flags & PREFIX) != 0,
                     (flags & CHARACTER) != 0, (flags & MAY_BE_MISSPELT) != 0, (flags & IDENTIFIER) != 0, (flags & CHANCE) != 0,
                     numbers[i + 3], numbers[i + 5], numbers[i + 6], numbers[i + 7]});
    start += length;
    rawStart += rawLength;
  }
}

void readJoined(const Fields& query, size_t words, std::vector<JoinedSpelling>& joined) {
  const Named given = query["joined"];
  const std::u16string texts = text16Of(given);
  const auto numbers = arrayOf<uint32_t>(query["joints"], napi_uint32_array);
  joined.clear();
  size_t start = 0;
  for (size_t i = 0; i + JOINT_NUMBERS <= numbers.size(); i += JOINT_NUMBERS) {
    const size_t first = numbers[i], last = numbers[i + 1], length = numbers[i + 2];
    if (first > last || last >= words || length == 0 || length > texts.size() - start) {
      throwTypeError(given.env, "the joined words do not fit the words");
    }
    joined.push_back({first, last, texts.substr(start, length)});
    start += length;
  }
}

}  // namespace tessera
