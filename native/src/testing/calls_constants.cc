// The bounds that TypeScript states too, for a test that compares them.
#include <iterator>

#include "common/limits.hpp"
#include "testing/calls.hpp"

namespace tessera {

Napi::Value constants(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto dimensions = Napi::Array::New(env, std::size(DIMENSIONS));
  for (uint32_t i = 0; i < std::size(DIMENSIONS); i++) {
    dimensions.Set(i, Napi::Number::New(env, DIMENSIONS[i]));
  }
  const auto result = Napi::Object::New(env);
  result.Set("dimensions", dimensions);
  result.Set("defaultLimit", Napi::Number::New(env, DEFAULT_LIMIT));
  result.Set("minLimit", Napi::Number::New(env, MIN_LIMIT));
  result.Set("maxLimit", Napi::Number::New(env, MAX_LIMIT));
  result.Set("defaultThreshold", Napi::Number::New(env, DEFAULT_THRESHOLD));
  result.Set("minThreshold", Napi::Number::New(env, MIN_THRESHOLD));
  result.Set("maxThreshold", Napi::Number::New(env, MAX_THRESHOLD));
  result.Set("maxIgnoredFields", Napi::Number::New(env, MAX_IGNORED_FIELDS));
  result.Set("maxFieldFaults", Napi::Number::New(env, MAX_FIELD_FAULTS));
  result.Set("maxBase64Chars", Napi::Number::New(env, MAX_BASE64_CHARS));
  result.Set("maxWordChars", Napi::Number::New(env, MAX_WORD_CHARS));
  result.Set("maxSnippetChars", Napi::Number::New(env, MAX_SNIPPET_CHARS));
  result.Set("maxFacetValueChars", Napi::Number::New(env, MAX_FACET_VALUE_CHARS));
  return result;
}

}  // namespace tessera
