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

/// The number of code units.
static constexpr size_t UNITS = 65'536;

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

static size_t spanPosition(Napi::Env env, const Napi::Value& value, size_t most) {
  if (!value.IsNumber()) throwTypeError(env, "a position must be a number");
  return std::min<size_t>(value.As<Napi::Number>().Uint32Value(), most);
}

ThreadTokenizer::ThreadTokenizer(const Napi::CallbackInfo& info, size_t position)
    : env_(info.Env()) {
  const Fields tokenizer(info, position);
  kinds = arrayOf<uint8_t>(tokenizer["kinds"], napi_uint8_array);
  folded = arrayOf<uint16_t>(tokenizer["folded"], napi_uint16_array);
  if (kinds.size() != UNITS || folded.size() != UNITS) {
    throwTypeError(env_, "kinds and folded must have 65,536 elements");
  }
  const auto functionNamed = [&](const char* name) {
    const Napi::Value value = tokenizer[name].value;
    if (!value.IsFunction()) throwTypeError(env_, std::string(name) + " must be a function");
    return value.As<Napi::Function>();
  };
  tokensOf_ = functionNamed("tokensOf");
  spellingsOf_ = functionNamed("spellingsOf");
}

std::vector<TokenSpan> ThreadTokenizer::call(const Napi::Function& function, std::u16string_view text) const {
  // A page in some scripts calls the tokenizer many times.
  const Napi::HandleScope scope(env_);
  const Napi::Value result = function.Call({Napi::String::New(env_, text.data(), text.size())});
  if (!result.IsArray()) throwTypeError(env_, "a tokenizer must return an array");
  const auto list = result.As<Napi::Array>();
  std::vector<TokenSpan> spans;
  for (uint32_t i = 0; i + 2 < list.Length(); i += 3) {
    const auto start = spanPosition(env_, list.Get(i), text.size());
    spans.push_back({start, spanPosition(env_, list.Get(i + 1), text.size()),
                     list.Get(i + 2).ToString().Utf16Value()});
  }
  return spans;
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
