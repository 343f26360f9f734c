// The calls that write text segments.
#include <algorithm>

#include "binding/calls.hpp"
#include "binding/text_arguments.hpp"
#include "text/segment/merge.hpp"
#include "text/segment/segment_writer.hpp"

namespace tessera {

namespace {

KnowledgeDocument documentOf(const Named& given) {
  const Fields fields(given);
  KnowledgeDocument document{text16Of(fields["id"]), text16Of(fields["path"]), text16Of(fields["title"]), {}, {},
                             text16Of(fields["content"])};
  eachIn(fields["headings"], [&](const Named& heading) { document.headings.push_back(text16Of(heading)); });
  eachIn(fields["frontmatter"], [&](const Named& each) {
    const Fields entry(each);
    document.frontmatter.push_back({text16Of(entry["key"]), text16Of(entry["value"])});
  });
  return document;
}

/// The memory that a function returns, which takes its size.
SegmentMemory memoryOf(const Named& given) {
  if (!given.value.IsFunction()) throwTypeError(given.env, std::string(given.name) + " must be a function");
  return [given](size_t bytes) -> std::span<uint8_t> {
    const auto size = Napi::Number::New(given.env, static_cast<double>(bytes));
    const Napi::Value memory = given.value.As<Napi::Function>().Call({size});
    arrayOf<uint8_t>({given.env, memory, "the memory of a segment"}, napi_uint8_array);
    auto array = memory.As<Napi::Uint8Array>();
    return {array.Data(), array.ElementLength()};
  };
}

}  // namespace

Napi::Value buildSegment(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  SegmentWriter writer;
  eachIn({env, info[0], "documents"}, [&](const Named& each) { writer.add(documentOf(each)); });
  writer.write(memoryOf({env, info[1], "memory"}));
  return env.Undefined();
}

Napi::Value mergeSegmentsCall(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const auto segments = segmentsOf({env, info[0], "segments"}, {env, info[1], "documents"});
  auto numbers = Napi::Array::New(env);
  for (const DocumentNumbers& own : mergeSegments(segments, memoryOf({env, info[2], "memory"}))) {
    auto array = Napi::Int32Array::New(env, own.size());
    std::ranges::copy(own, array.Data());
    numbers.Set(numbers.Length(), array);
  }
  return numbers;
}

}  // namespace tessera
