// The parts of the analysis of texts that only tests call.
#include "testing/calls.hpp"
#include "text/analysis/language.hpp"
#include "text/analysis/tokenizer.hpp"

namespace tessera {

Napi::Value unitKind(const Napi::CallbackInfo& info) {
  const auto unit = static_cast<char16_t>(info[0].As<Napi::Number>().Uint32Value());
  return Napi::Number::New(info.Env(), Tokenizer::instance().kindOf(unit));
}

Napi::Value languageNamedCall(const Napi::CallbackInfo& info) {
  const auto language = languageNamed(info[0].As<Napi::String>().Utf16Value());
  return language ? Napi::Number::New(info.Env(), *language) : info.Env().Null();
}

}  // namespace tessera
