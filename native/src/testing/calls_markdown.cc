// The parts of Markdown and of chunks that native code reads, for tests.
#include <string>

#include "common/chunk_text.hpp"
#include "retrieval/passages.hpp"
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

Napi::Value renderedContent(const Napi::CallbackInfo& info) {
  const std::string json = info[0].As<Napi::String>().Utf8Value();
  ChunkText chunk;
  if (!readChunkText(json, chunk)) return info.Env().Null();
  std::u16string content;
  decodeJsonString(chunk.content, content);
  return text16Of(info.Env(), content);
}

Napi::Value renderedHeading(const Napi::CallbackInfo& info) {
  const std::string json = info[0].As<Napi::String>().Utf8Value();
  ChunkText chunk;
  const auto heading = readChunkText(json, chunk) ? headingOf(chunk) : std::nullopt;
  if (!heading) return info.Env().Null();
  std::u16string text;
  decodeJsonString(*heading, text);
  return text16Of(info.Env(), text);
}

}  // namespace tessera
