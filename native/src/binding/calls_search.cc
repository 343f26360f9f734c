// Calls that search and render the answer, and the one that measures the recall of a search.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <string_view>

#include "binding/arguments.hpp"
#include "binding/calls.hpp"
#include "binding/jobs.hpp"
#include "search/recall.hpp"
#include "search/render.hpp"
#include "search/search.hpp"

namespace tessera {

/// native/index.ts states the same numbers.
static constexpr int NEEDS_FULL_PARSE = 1;
static constexpr int NOT_LOADED = 2;

/// Memory that a thread reuses, so that a search allocates next to nothing.
struct CallScratch {
  SearchBody body;
  Answer answer;
  std::string text;
};

static CallScratch& threadScratch() {
  static thread_local CallScratch scratch;
  return scratch;
}

/// Numbers of a report: milliseconds of parsing, searching and rendering, the plan, the number of
/// ignored members of the body that `ignoredFields` names, the milliseconds of the search that went
/// into rescoring, the distinct vectors of the scope, and how many estimates and full vectors were
/// compared, and 1 if the number of matches is that of all, else 0.
static constexpr size_t REPORT_LENGTH = 10;

/// A thread keeps the memory of an answer for the next one up to this size.
static constexpr size_t TEXT_KEPT_BYTES = 1 << 20;

using Clock = std::chrono::steady_clock;

static double millisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// A Float64Array for the report; null when the caller wants none.
static double* reportArgument(const Napi::CallbackInfo& info, size_t position) {
  const Napi::Value value = info[position];
  if (value.IsUndefined()) return nullptr;
  if (value.IsTypedArray() && value.As<Napi::TypedArray>().TypedArrayType() == napi_float64_array) {
    auto numbers = value.As<Napi::Float64Array>();
    if (numbers.ElementLength() >= REPORT_LENGTH) return numbers.Data();
  }
  throwTypeError(info.Env(), "report must be a Float64Array of 10 elements");
}

static Method methodArgument(const Napi::CallbackInfo& info, size_t position) {
  const Napi::Value value = info[position];
  if (value.IsUndefined()) return Method::PLANNED;
  if (!value.IsBoolean()) throwTypeError(info.Env(), "exact must be a boolean");
  return value.As<Napi::Boolean>().Value() ? Method::EXACT : Method::PLANNED;
}

static Query queryOf(const SearchBody& body) {
  return {body.vector.data(), body.dimension, body.limit, body.threshold};
}

/// Searches, renders the answer, and fills the report except for the time of parsing.
static Napi::Value respond(Napi::Env env, const Scope& scope, CallScratch& scratch,
                           std::string_view selfPath, Method method, double* report) {
  search(scope, queryOf(scratch.body), scratch.answer, method);
  const auto start = Clock::now();
  renderAnswer(scratch.answer, selfPath, scratch.text);
  auto bytes = Napi::Uint8Array::New(env, scratch.text.size());
  std::memcpy(bytes.Data(), scratch.text.data(), scratch.text.size());
  if (scratch.text.capacity() > TEXT_KEPT_BYTES) std::string().swap(scratch.text);
  if (report != nullptr) {
    report[1] = scratch.answer.milliseconds;
    report[2] = millisecondsSince(start);
    report[3] = static_cast<double>(scratch.answer.plan);
    const SearchWork& work = scratch.answer.work;
    report[5] = std::min(work.rescoreMilliseconds, scratch.answer.milliseconds);
    report[6] = static_cast<double>(work.members);
    report[7] = static_cast<double>(work.estimates);
    report[8] = static_cast<double>(work.vectors);
    report[9] = work.countsAll ? 1 : 0;
  }
  return bytes;
}

Napi::Value searchJson(const Napi::CallbackInfo& info) {
  const auto start = Clock::now();
  const auto scope = scopeArguments(info);
  const Bytes bytes = bytesArgument(info, 2, "body");
  const std::string selfPath = stringArgument(info, 3, "selfPath", MAX_PATH_BYTES);
  double* report = reportArgument(info, 4);
  const Method method = methodArgument(info, 5);
  if (!scope) return Napi::Number::New(info.Env(), NOT_LOADED);
  CallScratch& scratch = threadScratch();
  if (!parseSearchBody(bytes.data, bytes.length, scratch.body)) {
    return Napi::Number::New(info.Env(), NEEDS_FULL_PARSE);
  }
  if (report != nullptr) {
    report[0] = millisecondsSince(start);
    report[4] = scratch.body.ignoredCount;
  }
  return respond(info.Env(), *scope, scratch, selfPath, method, report);
}

Napi::Value ignoredFields(const Napi::CallbackInfo& info) {
  return Napi::String::New(info.Env(), threadScratch().body.ignored);
}

Napi::Value searchVector(const Napi::CallbackInfo& info) {
  const auto start = Clock::now();
  const auto scope = scopeArguments(info);
  CallScratch& scratch = threadScratch();
  queryArguments(info, scratch.body);
  const std::string selfPath = stringArgument(info, 6, "selfPath", MAX_PATH_BYTES);
  double* report = reportArgument(info, 7);
  const Method method = methodArgument(info, 8);
  if (!scope) return Napi::Number::New(info.Env(), NOT_LOADED);
  if (report != nullptr) {
    report[0] = millisecondsSince(start);
    report[4] = 0;
  }
  return respond(info.Env(), *scope, scratch, selfPath, method, report);
}

/// Reads the query of a recall measurement: a JSON body, or a vector with its options.
static bool readSample(const Napi::CallbackInfo& info, SearchBody& body) {
  if (!info[3].IsUndefined()) {
    queryArguments(info, body);
    return true;
  }
  const Bytes bytes = bytesArgument(info, 2, "body");
  return parseSearchBody(bytes.data, bytes.length, body);
}

Napi::Value beginRecall(const Napi::CallbackInfo& info) {
  const auto scope = scopeArguments(info);
  auto body = std::make_shared<SearchBody>();
  if (!readSample(info, *body) || !scope) return info.Env().Null();
  const auto work = [scope, body]() -> JobResult {
    const RecallSample sample = measureRecall(*scope, queryOf(*body));
    return [sample, dimension = body->dimension](Napi::Env env) -> Napi::Value {
      const auto result = Napi::Object::New(env);
      result.Set("dimension", Napi::Number::New(env, dimension));
      result.Set("wanted", Napi::Number::New(env, sample.wanted));
      result.Set("found", Napi::Number::New(env, sample.found));
      return result;
    };
  };
  return beginJob(info.Env(), work, Priority::LOWEST);
}

}  // namespace tessera
