// Calls that search.
#include <cstring>

#include "arguments.hpp"
#include "body.hpp"
#include "calls.hpp"
#include "render.hpp"
#include "search.hpp"

namespace tessera {

static constexpr int UNUSUAL = 1;
static constexpr int NOT_RESIDENT = 2;

/// What a thread needs for a search, kept so that a search allocates next to nothing.
struct CallScratch {
  SearchBody body;
  Answer answer;
  std::string text;
};

static CallScratch& scratch() {
  static thread_local CallScratch mine;
  return mine;
}

static std::shared_ptr<const Scope> scopeArgument(const Napi::CallbackInfo& info) {
  const auto project = Registry::instance().find(nameArgument(info, 0, "projectId"));
  const std::string scopeId = nameArgument(info, 1, "scopeId");
  return project ? project->scope(scopeId) : nullptr;
}

static Napi::Value respond(Napi::Env env, const Answer& answer, std::string_view selfPath) {
  std::string& text = scratch().text;
  renderAnswer(answer, selfPath, text);
  auto bytes = Napi::Uint8Array::New(env, text.size());
  std::memcpy(bytes.Data(), text.data(), text.size());
  return bytes;
}

static Query queryOf(const SearchBody& body) {
  return {body.vector.data(), body.dimension, body.limit, body.threshold};
}

Napi::Value searchJson(const Napi::CallbackInfo& info) {
  const auto scope = scopeArgument(info);
  const Bytes bytes = bytesArgument(info, 2, "body");
  const std::string selfPath = stringArgument(info, 3, "selfPath", MAX_PATH_BYTES);
  if (!scope) return Napi::Number::New(info.Env(), NOT_RESIDENT);
  CallScratch& mine = scratch();
  if (!parseSearchBody(bytes.data, bytes.length, mine.body)) {
    return Napi::Number::New(info.Env(), UNUSUAL);
  }
  search(*scope, queryOf(mine.body), mine.answer);
  return respond(info.Env(), mine.answer, selfPath);
}

/// Reads vector, dimension, limit and threshold from argument 2 on.
static void queryArguments(const Napi::CallbackInfo& info, SearchBody& body) {
  body.dimension = dimensionArgument(info, 3);
  vectorArgument(info, 2, body.dimension, body.vector);
  body.limit = integerArgument(info, 4, "limit", 1, MAX_LIMIT);
  body.threshold = thresholdArgument(info, 5);
}

Napi::Value searchVector(const Napi::CallbackInfo& info) {
  const auto scope = scopeArgument(info);
  CallScratch& mine = scratch();
  queryArguments(info, mine.body);
  const std::string selfPath = stringArgument(info, 6, "selfPath", MAX_PATH_BYTES);
  if (!scope) return Napi::Number::New(info.Env(), NOT_RESIDENT);
  search(*scope, queryOf(mine.body), mine.answer);
  return respond(info.Env(), mine.answer, selfPath);
}

Napi::Value parseSearchBodyCall(const Napi::CallbackInfo& info) {
  const Bytes bytes = bytesArgument(info, 0, "body");
  SearchBody& body = scratch().body;
  if (!parseSearchBody(bytes.data, bytes.length, body)) return info.Env().Null();
  auto vector = Napi::Float32Array::New(info.Env(), body.vector.size());
  std::copy(body.vector.begin(), body.vector.end(), vector.Data());
  const auto result = Napi::Object::New(info.Env());
  result.Set("vector", vector);
  result.Set("dimension", Napi::Number::New(info.Env(), body.dimension));
  result.Set("limit", Napi::Number::New(info.Env(), body.limit));
  result.Set("threshold", Napi::Number::New(info.Env(), body.threshold));
  return result;
}

static Napi::Value rawAnswer(Napi::Env env, const Answer& answer) {
  const size_t count = answer.hits.size();
  auto ids = Napi::Uint8Array::New(env, count * sizeof(ChunkId));
  auto ordinals = Napi::Uint32Array::New(env, count);
  auto scores = Napi::Float64Array::New(env, count);
  for (size_t i = 0; i < count; i++) {
    const Hit& hit = answer.hits[i];
    std::memcpy(ids.Data() + i * sizeof(ChunkId), &answer.index->id(hit.ordinal), sizeof(ChunkId));
    ordinals.Data()[i] = hit.ordinal;
    scores.Data()[i] = hit.score;
  }
  const auto result = Napi::Object::New(env);
  result.Set("ids", ids);
  result.Set("ordinals", ordinals);
  result.Set("scores", scores);
  result.Set("plan", Napi::String::New(env, answer.plan));
  result.Set("milliseconds", Napi::Number::New(env, answer.milliseconds));
  return result;
}

using Method = void (*)(const Scope&, const Query&, Answer&);

static Napi::Value searchBy(Method method, const Napi::CallbackInfo& info) {
  const auto scope = scopeArgument(info);
  CallScratch& mine = scratch();
  queryArguments(info, mine.body);
  if (!scope) throw Napi::Error::New(info.Env(), "the project or the scope is not resident");
  method(*scope, queryOf(mine.body), mine.answer);
  return rawAnswer(info.Env(), mine.answer);
}

Napi::Value exactSearchCall(const Napi::CallbackInfo& info) { return searchBy(exactSearch, info); }
Napi::Value searchRaw(const Napi::CallbackInfo& info) { return searchBy(search, info); }

}  // namespace tessera
