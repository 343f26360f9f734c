// The calls for words: tokens and spellings of texts.
#include "binding/calls.hpp"
#include "binding/text_arguments.hpp"
#include "text/analysis/tokenizer.hpp"
#include "text/analysis/unicode.hpp"

namespace tessera {

namespace {

/// Tokens never contain a space.
Napi::Value spansOf(Napi::Env env, const std::vector<TokenSpan>& spans) {
  std::u16string tokens;
  auto places = Napi::Uint32Array::New(env, spans.size() * 2);
  for (size_t i = 0; i < spans.size(); i++) {
    if (i > 0) tokens += u' ';
    tokens += spans[i].token;
    places[2 * i] = static_cast<uint32_t>(spans[i].start);
    places[2 * i + 1] = static_cast<uint32_t>(spans[i].end);
  }
  const auto result = Napi::Object::New(env);
  result.Set("tokens", Napi::String::New(env, tokens));
  result.Set("places", places);
  return result;
}

}  // namespace

Napi::Value tokensInText(const Napi::CallbackInfo& info) {
  return spansOf(info.Env(), Tokenizer::instance().tokensOf(text16Argument(info, 0, "text")));
}

Napi::Value spellingsInText(const Napi::CallbackInfo& info) {
  return spansOf(info.Env(), Tokenizer::instance().spellingsOf(text16Argument(info, 0, "text")));
}

Napi::String wordTablesVersion(Napi::Env env) { return Napi::String::New(env, std::string(tablesVersion())); }

}  // namespace tessera
