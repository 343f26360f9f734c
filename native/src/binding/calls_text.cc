// The calls for texts: views of segments, lookups in them, and stems.
#include <algorithm>
#include <cstring>

#include "binding/calls.hpp"
#include "binding/text_arguments.hpp"
#include "text/segment/dictionary.hpp"
#include "text/segment/stem.hpp"

namespace tessera {

/// native/index.ts states the same numbers.
static constexpr size_t LOOKUP_REPORT_LENGTH = 3;
static constexpr uint32_t MAX_SHARDS = 1u << 16;
namespace {

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
  TextView& view = openViewArgument(info);
  readRequest(info, thread.request);
  const ThreadTokenizer tokenizer(info, 10);
  const auto report = arrayOf<double>(env, info[13], napi_float64_array, "report");
  if (report.size() < LOOKUP_REPORT_LENGTH) throwTypeError(env, "report must have 3 elements");
  lookUp(view, thread.request, tokenizer, thread.scratch, thread.answer);
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
