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

/// native/index.ts states the same number.
static constexpr int NOT_LOADED = 1;

/// Memory that a thread reuses, so that a search allocates little.
struct CallScratch {
  SearchBody body;
  SearchFaults faults;
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

/// Reads the query: a vector with its options, or a JSON body. Returns false if the body is not a search.
static bool readBody(const Fields& request, SearchBody& body, SearchFaults& faults) {
  const Named dimension = request["dimension"];
  if (!dimension.value.IsUndefined()) {
    body.ignored.clear();
    readQuery(request["body"], dimension, request["limit"], request["threshold"], body);
    return true;
  }
  const Bytes bytes = bytesOf(request["body"]);
  return parseSearchBody(bytes.data, bytes.length, body, faults);
}

/// Sets an option that is given, for a message about it, which repeats only numbers.
static void setOption(Napi::Object options, const char* name, const GivenOption& option) {
  const Napi::Env env = options.Env();
  if (option.kind == GivenOption::NULL_VALUE) {
    options.Set(name, env.Null());
  } else if (option.kind == GivenOption::NUMBER) {
    options.Set(name, Napi::Number::New(env, option.number));
  } else if (option.kind == GivenOption::OTHER) {
    options.Set(name, Napi::Boolean::New(env, false));
  }
}

static Napi::Object faultsOf(Napi::Env env, const SearchFaults& faults) {
  const auto result = Napi::Object::New(env);
  if (faults.body != nullptr) {
    result.Set("body", faults.body);
    return result;
  }
  const auto vector = Napi::Array::New(env, faults.vector.size());
  for (uint32_t i = 0; i < faults.vector.size(); i++) {
    const auto fault = Napi::Object::New(env);
    fault.Set("rule", faults.vector[i].rule);
    fault.Set("number", Napi::Number::New(env, static_cast<double>(faults.vector[i].number)));
    vector.Set(i, fault);
  }
  const auto options = Napi::Object::New(env);
  setOption(options, "dimension", faults.dimension);
  setOption(options, "limit", faults.limit);
  setOption(options, "threshold", faults.threshold);
  result.Set("vector", vector);
  result.Set("options", options);
  return result;
}

static Napi::Array namesOf(Napi::Env env, const std::vector<std::u16string>& names) {
  const auto result = Napi::Array::New(env, names.size());
  for (uint32_t i = 0; i < names.size(); i++) result.Set(i, Napi::String::New(env, names[i]));
  return result;
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
  if (!readBody(request, scratch.body, scratch.faults)) return faultsOf(info.Env(), scratch.faults);
  if (report != nullptr) {
    report[PARSE_MS] = millisecondsSince(start);
    report[IGNORED] = static_cast<double>(scratch.body.ignored.size());
  }
  return respond(info.Env(), *scope, scratch, selfPath, method, report);
}

Napi::Value parseSearchBodyCall(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const Bytes bytes = bytesArgument(info, 0, "body");
  auto& [body, faults, answer, text] = threadScratch();
  if (!parseSearchBody(bytes.data, bytes.length, body, faults)) return faultsOf(env, faults);
  auto vector = Napi::Float32Array::New(env, body.vector.size());
  std::copy(body.vector.begin(), body.vector.end(), vector.Data());
  const auto result = Napi::Object::New(env);
  result.Set("vector", vector);
  result.Set("dimension", Napi::Number::New(env, body.dimension));
  result.Set("limit", Napi::Number::New(env, body.limit));
  result.Set("threshold", Napi::Number::New(env, body.threshold));
  result.Set("ignored", namesOf(env, body.ignored));
  return result;
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
  return namesOf(info.Env(), threadScratch().body.ignored);
}

Napi::Value beginRecall(const Napi::CallbackInfo& info) {
  const Fields query(info, 0);
  const auto scope = scopeOf(query["project"], query["scope"]);
  auto body = std::make_shared<SearchBody>();
  SearchFaults faults;
  if (!readBody(query, *body, faults) || !scope) return info.Env().Null();
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
