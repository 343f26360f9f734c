// The calls for texts: views of segments, lookups in them, and stems.
#include <algorithm>
#include <cstring>

#include "binding/calls.hpp"
#include "binding/text_arguments.hpp"
#include "text/segment/dictionary.hpp"
#include "text/segment/stem.hpp"

namespace tessera {

static constexpr uint32_t MAX_SHARDS = 1u << 16;
namespace {

TextSegment segmentOf(Napi::Env env, const Napi::Value& buffer, const Napi::Value& documents) {
  const auto bytes = arrayOf<uint8_t>({env, buffer, "a segment"}, napi_uint8_array);
  try {
    TextSegment segment = readSegment(bytes);
    if (documents.IsNull()) return segment;
    segment.inScope = {false,
                       arrayOf<uint32_t>({env, documents, "a set of documents"}, napi_uint32_array)};
    return segment;
  } catch (const std::invalid_argument& error) {
    throwTypeError(env, error.what());
  }
}

void readRequest(const Fields& given, LookupRequest& request) {
  const Named query = given["query"];
  request.query = std::nullopt;
  if (!query.value.IsNull()) request.query = text16Of(query);
  request.analysed = analysedQueryOf(given);
  request.limit = integerOf(given["limit"], 1, UINT32_MAX);
  request.shard.count = integerOf(given["shardCount"], 1, MAX_SHARDS);
  request.shard.index = integerOf(given["shardIndex"], 0, request.shard.count - 1);
  request.progress = textOf(given["progress"]);
  request.selfPath = textOf(given["selfPath"]);
  request.next = textOf(given["next"]);
}

}  // namespace

std::vector<TextSegment> segmentsOf(const Named& buffers, const Named& documents) {
  if (!buffers.value.IsArray() || !documents.value.IsArray()) {
    throwTypeError(buffers.env, "segments and documents must be arrays");
  }
  const auto all = buffers.value.As<Napi::Array>();
  const auto sets = documents.value.As<Napi::Array>();
  std::vector<TextSegment> segments;
  for (uint32_t s = 0; s < all.Length(); s++) segments.push_back(segmentOf(buffers.env, all.Get(s), sets.Get(s)));
  return segments;
}

Napi::Value openTextView(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const uint32_t number = viewOf({env, info[0], "view"});
  TextView view(segmentsOf({env, info[1], "segments"}, {env, info[2], "documents"}));
  textThread().views.insert_or_assign(number, std::move(view));
  return env.Undefined();
}

Napi::Value closeTextView(const Napi::CallbackInfo& info) {
  textThread().views.erase(viewOf({info.Env(), info[0], "view"}));
  return info.Env().Undefined();
}

Napi::Value lookUpText(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  TextThread& thread = textThread();
  const Fields given(info, 0);
  TextView& view = openViewOf(given["view"]);
  readRequest(given, thread.request);
  lookUp(view, thread.request, thread.scratch, thread.answer);
  const LookupAnswer& answer = thread.answer;
  auto result = pageOf(env, answer.json, answer.total, answer.more, answer.progress);
  result.Set("shardItems", Napi::Number::New(env, static_cast<double>(answer.shardItems)));
  return result;
}

Napi::Array stemLanguageCodes(Napi::Env env) {
  auto codes = Napi::Array::New(env);
  for (const char* code : stemLanguages()) codes.Set(codes.Length(), Napi::String::New(env, code));
  return codes;
}

static uint8_t languageOf(const Named& given) {
  return static_cast<uint8_t>(integerOf(given, 0, STEM_LANGUAGES - 1));
}

Napi::Value stem(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const std::u16string word = text16Of({env, info[0], "word"});
  const uint8_t language = languageOf({env, info[1], "language"});
  return Napi::String::New(env, hasStem(word, language) ? stemOf(word, language) : word);
}

}  // namespace tessera
