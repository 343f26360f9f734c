// What calls for texts share: the views of a thread, and their arguments.
#pragma once
#include <napi.h>

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "binding/arguments.hpp"
#include "text/query/lookup.hpp"

namespace tessera {

/// What a thread keeps. The memory of the segments belongs to its JavaScript values.
struct TextThread {
  std::unordered_map<uint32_t, TextView> views;
  LookupScratch scratch;
  LookupRequest request;
  LookupAnswer answer;
};

TextThread& textThread();

template <typename Element>
std::span<const Element> arrayOf(Napi::Env env, const Napi::Value& value, napi_typedarray_type type,
                                 const char* name) {
  if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != type) {
    throwTypeError(env, std::string(name) + " must be a typed array of the documented type");
  }
  const auto array = value.As<Napi::TypedArrayOf<Element>>();
  return {array.Data(), array.ElementLength()};
}

std::u16string text16Argument(const Napi::CallbackInfo& info, size_t position, const char* name);
std::string textArgument(const Napi::CallbackInfo& info, size_t position, const char* name);
uint32_t viewArgument(const Napi::CallbackInfo& info);
/// The open view that argument 0 names. Throws an Error when it is not open.
TextView& openViewArgument(const Napi::CallbackInfo& info);
/// The words of a query, which arguments 2 and 3 describe.
void readWords(const Napi::CallbackInfo& info, std::vector<AnalysedWord>& words);

/// The tokenizer of the thread, which native code asks only for what it has not seen.
class ThreadTokenizer final : public Tokenizer {
 public:
  /// @param position that of the arguments kinds, folded and tokensOf
  ThreadTokenizer(const Napi::CallbackInfo& info, size_t position);

  std::vector<TokenSpan> tokensOf(std::u16string_view text) const override;

 private:
  Napi::Env env_;
  Napi::Function tokensOf_;
};

}  // namespace tessera
