// The calls for words: tokens and spellings of texts, and the languages of function words.
#include "binding/calls.hpp"
#include "binding/text_arguments.hpp"
#include "text/analysis/function_words.hpp"
#include "text/analysis/identifiers.hpp"
#include "text/analysis/surface_form.hpp"
#include "text/analysis/tokenizer.hpp"
#include "text/analysis/unicode.hpp"

namespace tessera {

namespace {

std::u16string textArgument(const Napi::CallbackInfo& info) { return text16Of({info.Env(), info[0], "text"}); }

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

Napi::Value listOf(Napi::Env env, const std::vector<std::u16string_view>& words) {
  auto list = Napi::Array::New(env, words.size());
  for (uint32_t i = 0; i < words.size(); i++) list[i] = Napi::String::New(env, words[i].data(), words[i].size());
  return list;
}

}  // namespace

Napi::Value tokensInText(const Napi::CallbackInfo& info) {
  return spansOf(info.Env(), Tokenizer::instance().tokensOf(textArgument(info)));
}

Napi::Value spellingsInText(const Napi::CallbackInfo& info) {
  return spansOf(info.Env(), Tokenizer::instance().spellingsOf(textArgument(info)));
}

Napi::Value surfaceFormCall(const Napi::CallbackInfo& info) {
  return Napi::String::New(info.Env(), surfaceForm(textArgument(info)));
}

Napi::Value simplifiedCall(const Napi::CallbackInfo& info) {
  return Napi::String::New(info.Env(), simplifiedOf(textArgument(info)));
}

Napi::Value isUnspacedCall(const Napi::CallbackInfo& info) {
  return Napi::Boolean::New(info.Env(), isUnspaced(textArgument(info)));
}

Napi::Value identifiersInText(const Napi::CallbackInfo& info) {
  const std::u16string text = textArgument(info);
  return listOf(info.Env(), identifiersIn(text));
}

Napi::Value subwordsOfCall(const Napi::CallbackInfo& info) {
  const std::u16string identifier = textArgument(info);
  return listOf(info.Env(), subwordsOf(identifier));
}

Napi::Object wordsByLanguage(Napi::Env env) {
  auto lists = Napi::Object::New(env);
  for (const auto& [code, words] : functionWordLists().first(QUERY_LANGUAGES)) {
    lists.Set(std::string(code), Napi::String::New(env, std::u16string(words)));
  }
  return lists;
}

Napi::String wordTablesVersion(Napi::Env env) { return Napi::String::New(env, std::string(tablesVersion())); }

}  // namespace tessera
