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

/// Memory that a thread reuses, so that a search allocates little.
struct CallScratch {
  SearchBody body;
  Answer answer;
  std::string text;
};

static CallScratch& threadScratch() {
  static thread_local CallScratch scratch;
  return scratch;
}

/// The numbers of a report, in the order of SEARCH_REPORT in native/index.ts: milliseconds of parsing, searching
/// and rendering, the plan, the number of ignored members of the body that `ignoredFields` names, the
/// milliseconds of the search that went into rescoring, the distinct vectors of the scope, how many
/// estimates and full vectors were compared, and 1 if the number of matches is that of all, else 0.
enum ReportPlace {
  PARSE_MS, SEARCH_MS, RENDER_MS, PLAN, IGNORED, RESCORE_MS, SCOPE_VECTORS, ESTIMATES, COMPARISONS,
  COUNTS_ALL, REPORT_LENGTH
};

/// A thread keeps the memory of an answer for the next one up to this size.
static constexpr size_t TEXT_KEPT_BYTES = 1 << 20;

using Clock = std::chrono::steady_clock;

static double millisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// The Float64Array for the report; null when the caller passes none.
static double* reportArgument(const Napi::CallbackInfo& info, size_t position) {
  const Napi::Value value = info[position];
  if (value.IsUndefined()) return nullptr;
  if (value.IsTypedArray() && value.As<Napi::TypedArray>().TypedArrayType() == napi_float64_array) {
    auto numbers = value.As<Napi::Float64Array>();
    if (numbers.ElementLength() >= size_t{REPORT_LENGTH}) return numbers.Data();
  }
  throwTypeError(info.Env(), "report must be a Float64Array of 10 elements");
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
    report[SEARCH_MS] = scratch.answer.milliseconds;
    report[RENDER_MS] = millisecondsSince(start);
    report[PLAN] = static_cast<double>(scratch.answer.plan);
    const SearchWork& work = scratch.answer.work;
    report[RESCORE_MS] = std::min(work.rescoreMilliseconds, scratch.answer.milliseconds);
    report[SCOPE_VECTORS] = static_cast<double>(work.members);
    report[ESTIMATES] = static_cast<double>(work.estimates);
    report[COMPARISONS] = static_cast<double>(work.vectors);
    report[COUNTS_ALL] = work.countsAll ? 1 : 0;
  }
  return bytes;
}

/// Reads the query: a vector with its options, or a JSON body. Returns false if the body is not simple.
static bool readBody(const Fields& request, SearchBody& body) {
  const Named dimension = request["dimension"];
  if (!dimension.value.IsUndefined()) {
    body.ignoredCount = 0;
    readQuery(request["body"], dimension, request["limit"], request["threshold"], body);
    return true;
  }
  const Bytes bytes = bytesOf(request["body"]);
  const Named filterAt = request["filterAt"];
  const size_t at = filterAt.value.IsUndefined() ? 0 : integerOf(filterAt, 0, UINT32_MAX);
  return parseSearchBody(bytes.data, bytes.length, body, at);
}

Napi::Value searchCall(const Napi::CallbackInfo& info) {
  const auto start = Clock::now();
  const Fields request(info, 0);
  const auto scope = scopeOf(request["project"], request["scope"]);
  const std::string selfPath = stringOf(request["selfPath"], MAX_PATH_BYTES);
  const Method method = flagOf(request["exact"], false) ? Method::EXACT : Method::PLANNED;
  double* report = reportArgument(info, 1);
  CallScratch& scratch = threadScratch();
  if (!scope) return Napi::Number::New(info.Env(), NOT_LOADED);
  if (!readBody(request, scratch.body)) return Napi::Number::New(info.Env(), NEEDS_FULL_PARSE);
  if (report != nullptr) {
    report[PARSE_MS] = millisecondsSince(start);
    report[IGNORED] = scratch.body.ignoredCount;
  }
  return respond(info.Env(), *scope, scratch, selfPath, method, report);
}

Napi::Value filterSpan(const Napi::CallbackInfo& info) {
  const Bytes bytes = bytesArgument(info, 0, "body");
  const auto span = findFilter(bytes.data, bytes.length);
  if (!span) return info.Env().Null();
  const auto result = Napi::Object::New(info.Env());
  result.Set("start", Napi::Number::New(info.Env(), static_cast<double>(span->start)));
  result.Set("end", Napi::Number::New(info.Env(), static_cast<double>(span->end)));
  return result;
}

Napi::Value ignoredFields(const Napi::CallbackInfo& info) {
  return Napi::String::New(info.Env(), threadScratch().body.ignored);
}

Napi::Value beginRecall(const Napi::CallbackInfo& info) {
  const Fields query(info, 0);
  const auto scope = scopeOf(query["project"], query["scope"]);
  auto body = std::make_shared<SearchBody>();
  if (!readBody(query, *body) || !scope) return info.Env().Null();
  const auto work = [scope, body]() -> JobResult {
    const RecallSample sample = measureRecall(*scope, queryOf(*body));
    return [sample, dimension = body->dimension](Napi::Env env) -> Napi::Value {
      const auto result = Napi::Object::New(env);
      result.Set("dimension", Napi::Number::New(env, dimension));
      result.Set("wanted", Napi::Number::New(env, sample.wanted));
      result.Set("found", Napi::Number::New(env, sample.found));
      result.Set("best", Napi::Number::New(env, sample.best));
      return result;
    };
  };
  return beginJob(info.Env(), work, Priority::LOWEST);
}

}  // namespace tessera
