// JavaScript arguments, validated before any memory is touched. A wrong argument throws a
// TypeError.
#pragma once
#include <napi.h>

#include <memory>
#include <string>
#include <vector>

#include "index/index.hpp"
#include "json/body.hpp"
#include "project/project.hpp"

namespace tessera {

struct Bytes {
  const uint8_t* data;
  size_t length;
};

/// A value from JavaScript, and its name in error messages.
struct Named {
  Napi::Env env;
  Napi::Value value;
  const char* name;
};

/// The members of an object that is an argument, or in one, by their names.
class Fields {
 public:
  explicit Fields(const Named& given);
  Fields(const Napi::CallbackInfo& info, size_t position) : Fields({info.Env(), info[position], "the request"}) {}

  Named operator[](const char* name) const { return {object_.Env(), object_.Get(name), name}; }

 private:
  Napi::Object object_;
};

[[noreturn]] void throwTypeError(Napi::Env env, const std::string& message);

/// A non-empty string of at most `maxBytes` UTF-8 bytes.
std::string stringOf(const Named& given, size_t maxBytes);
std::string nameOf(const Named& given);
/// Any string, as UTF-8 or UTF-16.
std::string textOf(const Named& given);
std::u16string text16Of(const Named& given);
Napi::Array listOf(const Named& given);
/// Calls `visit(element)` for each element of an array.
template <typename Visit>
void eachIn(const Named& given, const Visit& visit) {
  const Napi::Array list = listOf(given);
  for (uint32_t i = 0; i < list.Length(); i++) {
    const Napi::HandleScope scope(given.env);
    visit(Named{given.env, list.Get(i), given.name});
  }
}
/// A Uint8Array or an ArrayBuffer.
Bytes bytesOf(const Named& given);
/// True or false; `fallback` if it is undefined.
bool flagOf(const Named& given, bool fallback);
/// One of the dimensions that a vector may have.
uint32_t dimensionOf(Napi::Env env, const Napi::Value& value);
/// One of the dimensions that an index may have, which is 0 without vectors.
uint32_t indexDimensionOf(Napi::Env env, const Napi::Value& value);
/// A whole number in [min, max].
uint32_t integerOf(const Named& given, uint32_t min, uint32_t max);
/// A number in [-1, 1].
double thresholdOf(const Named& given);
/// A usable query vector of `dimension` elements: a Float32Array, or its little-endian bytes at any
/// alignment. Copied into `out`.
void vectorOf(const Named& given, uint32_t dimension, std::vector<float>& out);

inline std::string nameArgument(const Napi::CallbackInfo& info, size_t position, const char* name) {
  return nameOf({info.Env(), info[position], name});
}
inline std::string stringArgument(const Napi::CallbackInfo& info, size_t position, const char* name,
                                  size_t maxBytes) {
  return stringOf({info.Env(), info[position], name}, maxBytes);
}
inline std::u16string text16Argument(const Napi::CallbackInfo& info, size_t position, const char* name) {
  return text16Of({info.Env(), info[position], name});
}
inline Bytes bytesArgument(const Napi::CallbackInfo& info, size_t position, const char* name) {
  return bytesOf({info.Env(), info[position], name});
}
inline uint32_t dimensionArgument(const Napi::CallbackInfo& info, size_t position) {
  return indexDimensionOf(info.Env(), info[position]);
}
inline uint32_t integerArgument(const Napi::CallbackInfo& info, size_t position, const char* name,
                                uint32_t min, uint32_t max) {
  return integerOf({info.Env(), info[position], name}, min, max);
}
/// `{ ids, vectors, rendered, renderedEnds }`; the memory belongs to the caller.
Batch batchArgument(const Napi::CallbackInfo& info, size_t position, uint32_t dimension);
/// A Uint32Array of (first, count) pairs.
std::vector<uint32_t> pairsArgument(const Napi::CallbackInfo& info, size_t position,
                                    const char* name);
/// `[{ dimension, ranges: Uint32Array }]`.
std::vector<ScopeRanges> rangesArgument(const Napi::CallbackInfo& info, size_t position);

/// The open project that argument 0 names. Throws an Error when it is not open.
std::shared_ptr<Project> projectArgument(const Napi::CallbackInfo& info);
/// The scope of these names; null when it is not loaded.
std::shared_ptr<const Scope> scopeOf(const Named& project, const Named& scope);
/// Reads the vector with its dimension, limit and threshold.
void readQuery(const Named& vector, const Named& dimension, const Named& limit,
               const Named& threshold, SearchBody& body);

}  // namespace tessera
