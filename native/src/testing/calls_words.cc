// The parts of the analysis of texts that only tests call.
#include "binding/text_arguments.hpp"
#include "testing/calls.hpp"
#include "text/analysis/language.hpp"
#include "text/analysis/surface_form.hpp"
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

Napi::Value surfaceFormCall(const Napi::CallbackInfo& info) {
  return Napi::String::New(info.Env(), surfaceForm(text16Argument(info, 0, "word")));
}

Napi::Value analyseQueryCall(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const AnalysedQuery analysed = analysedQueryOf(Fields(info, 0));
  auto words = Napi::Array::New(env), joined = Napi::Array::New(env);
  // A Napi::String as a member would be copied as UTF-8, which lacks lone surrogates.
  const auto textOf = [&](const std::u16string& text) -> Napi::Value { return Napi::String::New(env, text); };
  for (const AnalysedWord& own : analysed.words) {
    auto word = Napi::Object::New(env);
    word.Set("text", textOf(own.text));
    word.Set("raw", textOf(own.raw));
    word.Set("count", own.count);
    word.Set("isPrefix", own.isPrefix);
    word.Set("isCharacter", own.isCharacter);
    word.Set("mayBeMisspelt", own.mayBeMisspelt);
    word.Set("isIdentifier", own.isIdentifier);
    word.Set("isChance", own.isChance);
    word.Set("functionalIn", own.functionalIn);
    word.Set("pairs", own.pairs);
    word.Set("englishPairs", own.englishPairs);
    word.Set("parts", own.parts);
    words.Set(words.Length(), word);
  }
  for (const JoinedSpelling& own : analysed.joined) {
    auto spelling = Napi::Object::New(env);
    spelling.Set("first", static_cast<double>(own.first));
    spelling.Set("last", static_cast<double>(own.last));
    spelling.Set("text", textOf(own.text));
    joined.Set(joined.Length(), spelling);
  }
  auto result = Napi::Object::New(env);
  result.Set("words", words);
  result.Set("joined", joined);
  return result;
}

}  // namespace tessera
