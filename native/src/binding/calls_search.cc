// Calls that search and render the answer.
#include <cstring>

#include "binding/arguments.hpp"
#include "binding/calls.hpp"
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

static Napi::Value respond(Napi::Env env, const Scope& scope, CallScratch& scratch,
                           std::string_view selfPath) {
  const SearchBody& body = scratch.body;
  search(scope, {body.vector.data(), body.dimension, body.limit, body.threshold}, scratch.answer);
  renderAnswer(scratch.answer, selfPath, scratch.text);
  auto bytes = Napi::Uint8Array::New(env, scratch.text.size());
  std::memcpy(bytes.Data(), scratch.text.data(), scratch.text.size());
  return bytes;
}

Napi::Value searchJson(const Napi::CallbackInfo& info) {
  const auto scope = scopeArguments(info);
  const Bytes bytes = bytesArgument(info, 2, "body");
  const std::string selfPath = stringArgument(info, 3, "selfPath", MAX_PATH_BYTES);
  if (!scope) return Napi::Number::New(info.Env(), NOT_LOADED);
  CallScratch& scratch = threadScratch();
  if (!parseSearchBody(bytes.data, bytes.length, scratch.body)) {
    return Napi::Number::New(info.Env(), NEEDS_FULL_PARSE);
  }
  return respond(info.Env(), *scope, scratch, selfPath);
}

Napi::Value searchVector(const Napi::CallbackInfo& info) {
  const auto scope = scopeArguments(info);
  CallScratch& scratch = threadScratch();
  queryArguments(info, scratch.body);
  const std::string selfPath = stringArgument(info, 6, "selfPath", MAX_PATH_BYTES);
  if (!scope) return Napi::Number::New(info.Env(), NOT_LOADED);
  return respond(info.Env(), *scope, scratch, selfPath);
}

}  // namespace tessera
