// The parts of Markdown that native code reads, for tests that compare it with TypeScript.
#include <string>

#include "common/chunk_text.hpp"
#include "testing/calls.hpp"
#include "text/page/plain_text.hpp"

namespace tessera {

static Napi::String text16Of(Napi::Env env, std::u16string_view text) {
  return Napi::String::New(env, text.data(), text.size());
}

Napi::Value markdownPlainText(const Napi::CallbackInfo& info) {
  std::u16string plain;
  plainTextOf(info[0].As<Napi::String>().Utf16Value(), plain);
  return text16Of(info.Env(), plain);
}

Napi::Value markdownHeadings(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const std::u16string markdown = info[0].As<Napi::String>().Utf16Value();
  auto list = Napi::Array::New(env);
  for (const MarkdownHeading& heading : headingsOf(markdown)) {
    auto entry = Napi::Object::New(env);
    entry.Set("text", text16Of(env, heading.text));
    entry.Set("start", Napi::Number::New(env, static_cast<double>(heading.start)));
    entry.Set("end", Napi::Number::New(env, static_cast<double>(heading.end)));
    list.Set(list.Length(), entry);
  }
  return list;
}

Napi::Value renderedContent(const Napi::CallbackInfo& info) {
  const std::string json = info[0].As<Napi::String>().Utf8Value();
  ChunkText chunk;
  if (!readChunkText(json, chunk)) return info.Env().Null();
  std::u16string content;
  decodeJsonString(chunk.content, content);
  return text16Of(info.Env(), content);
}

}  // namespace tessera
