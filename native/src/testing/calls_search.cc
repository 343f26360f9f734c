// Searches that answer with plain numbers.
#include <cstring>

#include "binding/arguments.hpp"
#include "binding/jobs.hpp"
#include "search/search.hpp"
#include "testing/calls.hpp"

namespace tessera {

static Napi::Value rawAnswer(Napi::Env env, const Answer& answer) {
  const size_t count = answer.hits.size();
  auto ids = Napi::Uint8Array::New(env, count * sizeof(ChunkId));
  auto ordinals = Napi::Uint32Array::New(env, count);
  auto scores = Napi::Float64Array::New(env, count);
  for (size_t i = 0; i < count; i++) {
    const Hit& hit = answer.hits[i];
    std::memcpy(ids.Data() + i * sizeof(ChunkId), &hit.shard->id(hit.row), sizeof(ChunkId));
    ordinals.Data()[i] = hit.shard->ordinalOf(hit.row);
    scores.Data()[i] = hit.score;
  }
  const auto result = Napi::Object::New(env);
  result.Set("ids", ids);
  result.Set("ordinals", ordinals);
  result.Set("scores", scores);
  result.Set("plan", Napi::Number::New(env, static_cast<double>(answer.plan)));
  result.Set("milliseconds", Napi::Number::New(env, answer.milliseconds));
  const auto work = Napi::Object::New(env);
  const auto count64 = [&](const char* name, uint64_t value) {
    work.Set(name, Napi::Number::New(env, static_cast<double>(value)));
  };
  count64("estimates", answer.work.estimates);
  count64("expansions", answer.work.expansions);
  count64("codes3Bit", answer.work.codes3Bit);
  count64("vectors", answer.work.vectors);
  result.Set("work", work);
  return result;
}

/// Reads project and scope from arguments 0 and 1, and the query from the following arguments.
static std::shared_ptr<const Scope> readSearch(const Napi::CallbackInfo& info, SearchBody& body) {
  const auto at = [&](size_t position, const char* name) {
    return Named{info.Env(), info[position], name};
  };
  readQuery(at(2, "vector"), at(3, "dimension"), at(4, "limit"), at(5, "threshold"), body);
  return scopeOf(at(0, "projectId"), at(1, "scopeId"));
}

static Napi::Value searchBy(Method method, const Napi::CallbackInfo& info) {
  static thread_local SearchBody body;
  static thread_local Answer answer;
  const auto scope = readSearch(info, body);
  if (!scope) throw Napi::Error::New(info.Env(), "the scope is not loaded");
  const Query query{body.vector.data(), body.dimension, body.limit, body.threshold};
  search(*scope, query, answer, method);
  return rawAnswer(info.Env(), answer);
}

Napi::Value exactSearch(const Napi::CallbackInfo& info) { return searchBy(Method::EXACT, info); }

Napi::Value setGraphNodes(const Napi::CallbackInfo& info) {
  const uint32_t before = Shard::graphNodes();
  Shard::setGraphNodes(integerArgument(info, 0, "nodes", 1, Shard::MAX_ROWS));
  return Napi::Number::New(info.Env(), before);
}

Napi::Value useHelpers(const Napi::CallbackInfo& info) {
  if (!info[0].IsBoolean()) throwTypeError(info.Env(), "allowed must be a boolean");
  return Napi::Boolean::New(info.Env(), allowHelpers(info[0].As<Napi::Boolean>().Value()));
}

Napi::Value blockOnJobsCall(const Napi::CallbackInfo& info) {
  if (!info[0].IsBoolean()) throwTypeError(info.Env(), "blocks must be a boolean");
  blockOnJobs(info[0].As<Napi::Boolean>().Value());
  return info.Env().Undefined();
}

Napi::Value searchRaw(const Napi::CallbackInfo& info) {
  if (info[6].IsUndefined()) return searchBy(Method::PLANNED, info);
  const std::string plan = nameArgument(info, 6, "plan");
  if (plan == "scan") return searchBy(Method::SCAN, info);
  if (plan == "graph") return searchBy(Method::GRAPH, info);
  throw Napi::RangeError::New(info.Env(), "unknown plan");
}

}  // namespace tessera
