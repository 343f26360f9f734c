// The calls for texts: views of segments, lookups in them, and stems.
#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "binding/arguments.hpp"
#include "binding/calls.hpp"
#include "common/limits.hpp"
#include "text/dictionary.hpp"
#include "text/lookup.hpp"
#include "text/stem.hpp"

namespace tessera {

/// native/index.ts states the same numbers.
static constexpr size_t LOOKUP_REPORT_LENGTH = 3;
static constexpr size_t WORD_NUMBERS = 3;
enum WordFlags : uint32_t { PREFIX = 1, MAY_BE_MISSPELT = 2, FUNCTIONAL = 4, IDENTIFIER = 8 };

static constexpr uint32_t MAX_SHARDS = 1u << 16;
/// So many code units there are.
static constexpr size_t UNITS = 65'536;

namespace {

/// What a thread keeps. The memory of the segments belongs to its JavaScript values.
struct TextThread {
  std::unordered_map<uint32_t, TextView> views;
  LookupScratch scratch;
  LookupRequest request;
  LookupAnswer answer;
};

TextThread& textThread() {
  static thread_local TextThread thread;
  return thread;
}

template <typename Element>
std::span<const Element> arrayOf(Napi::Env env, const Napi::Value& value, napi_typedarray_type type,
                                 const char* name) {
  if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != type) {
    throwTypeError(env, std::string(name) + " must be a typed array of the documented type");
  }
  const auto array = value.As<Napi::TypedArrayOf<Element>>();
  return {array.Data(), array.ElementLength()};
}

std::u16string text16Argument(const Napi::CallbackInfo& info, size_t position, const char* name) {
  const Napi::Value value = info[position];
  if (!value.IsString()) throwTypeError(info.Env(), std::string(name) + " must be a string");
  return value.As<Napi::String>().Utf16Value();
}

std::string textArgument(const Napi::CallbackInfo& info, size_t position, const char* name) {
  const Napi::Value value = info[position];
  if (!value.IsString()) throwTypeError(info.Env(), std::string(name) + " must be a string");
  return value.As<Napi::String>().Utf8Value();
}

uint32_t viewArgument(const Napi::CallbackInfo& info) {
  return integerArgument(info, 0, "view", 0, UINT32_MAX);
}

TextSegment segmentOf(Napi::Env env, const Napi::Value& buffer, const Napi::Value& documents) {
  const auto bytes = arrayOf<uint8_t>(env, buffer, napi_uint8_array, "a segment");
  try {
    TextSegment segment = readSegment(bytes);
    if (documents.IsNull()) return segment;
    segment.inScope = {false,
                       arrayOf<uint32_t>(env, documents, napi_uint32_array, "a set of documents")};
    return segment;
  } catch (const std::invalid_argument& error) {
    throwTypeError(env, error.what());
  }
}

/// The tokenizer of the thread, which native code asks only for what it has not seen.
class ThreadTokenizer final : public Tokenizer {
 public:
  ThreadTokenizer(const Napi::CallbackInfo& info, size_t position) : env_(info.Env()) {
    kinds = arrayOf<uint8_t>(env_, info[position], napi_uint8_array, "kinds");
    folded = arrayOf<uint16_t>(env_, info[position + 1], napi_uint16_array, "folded");
    if (kinds.size() != UNITS || folded.size() != UNITS) {
      throwTypeError(env_, "kinds and folded must have 65,536 elements");
    }
    const Napi::Value tokens = info[position + 2];
    if (!tokens.IsFunction()) throwTypeError(env_, "tokensOf must be a function");
    tokensOf_ = tokens.As<Napi::Function>();
  }

  std::vector<TokenSpan> tokensOf(std::u16string_view text) const override {
    // A page of some scripts asks many times.
    const Napi::HandleScope scope(env_);
    const Napi::Value result =
        tokensOf_.Call({Napi::String::New(env_, text.data(), text.size())});
    if (!result.IsArray()) throwTypeError(env_, "tokensOf must return an array");
    const auto list = result.As<Napi::Array>();
    std::vector<TokenSpan> spans;
    for (uint32_t i = 0; i + 2 < list.Length(); i += 3) {
      const auto start = positionOf(list.Get(i), text.size());
      spans.push_back({start, positionOf(list.Get(i + 1), text.size()),
                       list.Get(i + 2).ToString().Utf16Value()});
    }
    return spans;
  }

 private:
  size_t positionOf(const Napi::Value& value, size_t most) const {
    if (!value.IsNumber()) throwTypeError(env_, "a position must be a number");
    return std::min<size_t>(value.As<Napi::Number>().Uint32Value(), most);
  }

  Napi::Env env_;
  Napi::Function tokensOf_;
};

void readWords(const Napi::CallbackInfo& info, std::vector<AnalysedWord>& words) {
  const std::u16string texts = text16Argument(info, 2, "words");
  const auto numbers = arrayOf<uint32_t>(info.Env(), info[3], napi_uint32_array, "numbers");
  words.clear();
  size_t start = 0;
  for (size_t i = 0; i + WORD_NUMBERS <= numbers.size(); i += WORD_NUMBERS) {
    const size_t length = numbers[i];
    const uint32_t count = numbers[i + 1], flags = numbers[i + 2];
    if (length == 0 || length > MAX_WORD_CHARS || length > texts.size() - start) {
      throwTypeError(info.Env(), "the lengths of the words do not fit their text");
    }
    words.push_back({texts.substr(start, length), count, (flags & PREFIX) != 0,
                     (flags & MAY_BE_MISSPELT) != 0, (flags & FUNCTIONAL) != 0,
                     (flags & IDENTIFIER) != 0});
    start += length;
  }
}

void readRequest(const Napi::CallbackInfo& info, LookupRequest& request) {
  request.query = std::nullopt;
  if (!info[1].IsNull()) request.query = text16Argument(info, 1, "query");
  readWords(info, request.words);
  request.limit = integerArgument(info, 4, "limit", 1, UINT32_MAX);
  request.shard.count = integerArgument(info, 6, "shardCount", 1, MAX_SHARDS);
  request.shard.index = integerArgument(info, 5, "shardIndex", 0, request.shard.count - 1);
  request.progress = textArgument(info, 7, "progress");
  request.selfPath = textArgument(info, 8, "selfPath");
  request.next = textArgument(info, 9, "next");
}

}  // namespace

Napi::Value openTextView(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const uint32_t number = viewArgument(info);
  if (!info[1].IsArray() || !info[2].IsArray()) {
    throwTypeError(env, "segments and documents must be arrays");
  }
  const auto buffers = info[1].As<Napi::Array>();
  const auto documents = info[2].As<Napi::Array>();
  std::vector<TextSegment> segments;
  for (uint32_t s = 0; s < buffers.Length(); s++) {
    segments.push_back(segmentOf(env, buffers.Get(s), documents.Get(s)));
  }
  textThread().views.insert_or_assign(number, TextView(std::move(segments)));
  return env.Undefined();
}

Napi::Value closeTextView(const Napi::CallbackInfo& info) {
  textThread().views.erase(viewArgument(info));
  return info.Env().Undefined();
}

Napi::Value lookUpText(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  TextThread& thread = textThread();
  const auto view = thread.views.find(viewArgument(info));
  if (view == thread.views.end()) throw Napi::Error::New(env, "the view is not open");
  readRequest(info, thread.request);
  const ThreadTokenizer tokenizer(info, 10);
  const auto report = arrayOf<double>(env, info[13], napi_float64_array, "report");
  if (report.size() < LOOKUP_REPORT_LENGTH) throwTypeError(env, "report must have 3 elements");
  lookUp(view->second, thread.request, tokenizer, thread.scratch, thread.answer);
  const LookupAnswer& answer = thread.answer;
  double* out = info[13].As<Napi::Float64Array>().Data();
  out[0] = static_cast<double>(answer.total);
  out[1] = static_cast<double>(answer.shardItems);
  out[2] = answer.more ? 1 : 0;
  auto bytes = Napi::Uint8Array::New(env, answer.json.size());
  std::memcpy(bytes.Data(), answer.json.data(), answer.json.size());
  return bytes;
}

Napi::Value lookupProgress(const Napi::CallbackInfo& info) {
  return Napi::String::New(info.Env(), textThread().answer.progress);
}

Napi::Value stem(const Napi::CallbackInfo& info) {
  return Napi::String::New(info.Env(), stemOf(text16Argument(info, 0, "word")));
}

Napi::Value stemGroups(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto starts = arrayOf<uint32_t>(env, info[0], napi_uint32_array, "termStart");
  const auto units = arrayOf<uint16_t>(env, info[1], napi_uint16_array, "termChars");
  const bool fits = !starts.empty() && std::ranges::is_sorted(starts) && starts.back() <= units.size();
  if (!fits) throwTypeError(env, "termStart does not fit termChars");
  const auto next =
      linkStemGroups(starts, {reinterpret_cast<const char16_t*>(units.data()), units.size()});
  auto result = Napi::Uint32Array::New(env, next.size());
  std::ranges::copy(next, result.Data());
  return result;
}

}  // namespace tessera
