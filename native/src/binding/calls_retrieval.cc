// The call for retrieval.
#include <cmath>
#include <cstring>
#include <deque>

#include "binding/calls.hpp"
#include "binding/text_arguments.hpp"
#include "kernels/kernels.hpp"
#include "retrieval/retrieve.hpp"

namespace tessera {

/// native/retrieval.ts states the same numbers.
static constexpr int RETRIEVAL_NOT_LOADED = 2;
static constexpr int RETRIEVAL_UNREAD = 3;
static constexpr size_t RETRIEVAL_REPORT_LENGTH = 2;
static constexpr uint32_t MAX_RETRIEVAL_LIMIT = 1'000'000;

namespace {

struct RetrievalThread {
  Answer found;
  RetrievalAnswer answer;
};

RetrievalThread& retrievalThread() {
  static thread_local RetrievalThread thread;
  return thread;
}

/// Reads what the caller has found or read. Vectors stay in the memory of the caller.
class GivenReader {
 public:
  GivenReader(Napi::Env env, uint32_t dimension) : env_(env), dimension_(dimension) {}

  void read(const Napi::Value& value, RetrievalRequest& request) {
    if (value.IsNull()) return;
    const auto given = object(value);
    const auto versions = list(given.Get("versions"));
    for (uint32_t i = 0; i < versions.Length(); i++) {
      const auto version = object(versions.Get(i));
      request.versions.push_back({text(version.Get("id")), text(version.Get("file")),
                                  chunks(version.Get("chunks"))});
    }
    const Napi::Value hits = given.Get("hits");
    if (hits.IsNull()) return;
    const auto found = object(hits);
    const auto cosines =
        arrayOf<double>(env_, found.Get("cosines"), napi_float64_array, "cosines");
    const auto own = chunks(found.Get("chunks"));
    if (own.size() != cosines.size()) throwTypeError(env_, "every hit must have a cosine");
    request.hits.emplace();
    for (size_t i = 0; i < own.size(); i++) request.hits->push_back({own[i], cosines[i]});
    request.matches = static_cast<uint64_t>(found.Get("matches").ToNumber().Int64Value());
  }

 private:
  Napi::Object object(const Napi::Value& value) const {
    if (!value.IsObject()) throwTypeError(env_, "what is given must be objects");
    return value.As<Napi::Object>();
  }

  Napi::Array list(const Napi::Value& value) const {
    if (!value.IsArray()) throwTypeError(env_, "what is given must be in arrays");
    return value.As<Napi::Array>();
  }

  std::string_view text(const Napi::Value& value) {
    if (!value.IsString()) throwTypeError(env_, "what is given must be strings");
    return texts_.emplace_back(value.As<Napi::String>().Utf8Value());
  }

  /// Pairs of a rendered chunk and its vector, which is null or a Float32Array.
  std::vector<ChunkRef> chunks(const Napi::Value& value) {
    const auto pairs = list(value);
    std::vector<ChunkRef> chunks;
    for (uint32_t i = 0; i + 1 < pairs.Length(); i += 2) {
      ChunkRef& chunk = chunks.emplace_back();
      chunk.text = text(pairs.Get(i));
      if (!readChunkText(chunk.text, chunk.parts)) throwTypeError(env_, "a chunk is not rendered");
      const Napi::Value vector = pairs.Get(i + 1);
      if (vector.IsNull() || dimension_ == 0) continue;
      const auto elements = arrayOf<float>(env_, vector, napi_float32_array, "a vector");
      if (elements.size() != dimension_) continue;
      const double squared = kernels().dot(elements.data(), elements.data(), dimension_);
      chunk.vector = elements.data();
      chunk.inverseNorm = 1 / std::sqrt(squared);
    }
    return chunks;
  }

  Napi::Env env_;
  const uint32_t dimension_;
  /// A deque does not move its elements.
  std::deque<std::string> texts_;
};

void readVector(const Napi::CallbackInfo& info, size_t position, RetrievalRequest& request) {
  if (info[position].IsNull()) return;
  const auto vector = arrayOf<float>(info.Env(), info[position], napi_float32_array, "vector");
  const auto dimension = static_cast<uint32_t>(vector.size());
  if (dimensionSlot(dimension) < 0) throwTypeError(info.Env(), "vector has no known dimension");
  vectorArgument(info, position, dimension, request.vector);
}

/// The scope that arguments 4 and 5 name. False when it is not loaded.
bool readScope(const Napi::CallbackInfo& info, std::shared_ptr<const Scope>& scope) {
  if (info[4].IsNull()) return true;
  const auto project = Registry::instance().find(nameArgument(info, 4, "project"));
  scope = project ? project->scope(nameArgument(info, 5, "scope")) : nullptr;
  return scope != nullptr;
}

}  // namespace

Napi::Value retrieve(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  TextView& view = openViewArgument(info);
  RetrievalRequest request;
  request.hasQuery = !info[1].IsNull();
  readWords(info, request.words);
  std::shared_ptr<const Scope> scope;
  if (!readScope(info, scope)) return Napi::Number::New(env, RETRIEVAL_NOT_LOADED);
  request.mode = static_cast<RetrievalMode>(integerArgument(info, 6, "mode", 0, 2));
  readVector(info, 7, request);
  const bool lacksVector = request.mode != RetrievalMode::KEYWORD && request.vector.empty();
  if (lacksVector) throwTypeError(env, "the mode needs a vector");
  request.limit = integerArgument(info, 8, "limit", 1, MAX_RETRIEVAL_LIMIT);
  request.threshold = thresholdArgument(info, 9);
  request.progress = textArgument(info, 10, "progress");
  request.selfPath = textArgument(info, 11, "selfPath");
  request.next = textArgument(info, 12, "next");
  GivenReader given(env, static_cast<uint32_t>(request.vector.size()));
  given.read(info[13], request);
  const ThreadTokenizer tokenizer(info, 14);
  const auto report = arrayOf<double>(env, info[17], napi_float64_array, "report");
  if (report.size() < RETRIEVAL_REPORT_LENGTH) throwTypeError(env, "report must have 2 elements");
  auto& [found, answer] = retrievalThread();
  retrieve(view, scope.get(), request, tokenizer, textThread().scratch, found, answer);
  if (!answer.unread.empty()) return Napi::Number::New(env, RETRIEVAL_UNREAD);
  double* out = info[17].As<Napi::Float64Array>().Data();
  out[0] = static_cast<double>(answer.total);
  out[1] = answer.more ? 1 : 0;
  auto bytes = Napi::Uint8Array::New(env, answer.json.size());
  std::memcpy(bytes.Data(), answer.json.data(), answer.json.size());
  return bytes;
}

Napi::Value retrievalProgress(const Napi::CallbackInfo& info) {
  return Napi::String::New(info.Env(), retrievalThread().answer.progress);
}

Napi::Value unreadVersions(const Napi::CallbackInfo& info) {
  const auto& unread = retrievalThread().answer.unread;
  auto list = Napi::Array::New(info.Env(), unread.size());
  for (uint32_t i = 0; i < unread.size(); i++) list.Set(i, Napi::String::New(info.Env(), unread[i]));
  return list;
}

}  // namespace tessera
