// Shared by the calls for texts: the views of a thread, and their arguments.
#pragma once
#include <napi.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "binding/arguments.hpp"
#include "text/query/lookup.hpp"

namespace tessera {

/// The views of a thread. The memory of the segments belongs to its JavaScript values.
struct TextThread {
  std::unordered_map<uint32_t, TextView> views;
  LookupScratch scratch;
  LookupRequest request;
  LookupAnswer answer;
};

TextThread& textThread();

template <typename Element>
std::span<const Element> arrayOf(const Named& given, napi_typedarray_type type) {
  const auto& [env, value, name] = given;
  if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != type) {
    throwTypeError(env, std::string(name) + " must be a typed array of the documented type");
  }
  const auto array = value.As<Napi::TypedArrayOf<Element>>();
  return {array.Data(), array.ElementLength()};
}

/// Text segments and, for each, the set of its documents, or null for all of them.
std::vector<TextSegment> segmentsOf(const Named& buffers, const Named& documents);
uint32_t viewOf(const Named& given);
/// The open view of this number. Throws an Error when it is not open.
TextView& openViewOf(const Named& given);
/// The words of the query of a request, which cuts it by its function `wordBreaks`; none without a query.
AnalysedQuery analysedQueryOf(const Fields& request);

/// The answer of a page: `json`, `total`, `more`, and `progress`, which is "" when no page follows.
Napi::Object pageOf(Napi::Env env, std::string_view json, uint64_t total, bool more,
                    const std::string& progress);

}  // namespace tessera
