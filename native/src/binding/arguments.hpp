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

[[noreturn]] void throwTypeError(Napi::Env env, const std::string& message);

/// A non-empty string of at most `maxBytes` UTF-8 bytes.
std::string stringArgument(const Napi::CallbackInfo& info, size_t position, const char* name,
                           size_t maxBytes);
std::string nameArgument(const Napi::CallbackInfo& info, size_t position, const char* name);
/// A Uint8Array or an ArrayBuffer.
Bytes bytesArgument(const Napi::CallbackInfo& info, size_t position, const char* name);
Bytes bytesOf(Napi::Env env, const Napi::Value& value, const char* name);
/// One of the dimensions that an index may have.
uint32_t dimensionArgument(const Napi::CallbackInfo& info, size_t position);
uint32_t dimensionOf(Napi::Env env, const Napi::Value& value);
/// A whole number in [min, max].
uint32_t integerArgument(const Napi::CallbackInfo& info, size_t position, const char* name,
                         uint32_t min, uint32_t max);
/// A number in [-1, 1].
double thresholdArgument(const Napi::CallbackInfo& info, size_t position);
/// A usable query vector of `dimension` elements: a Float32Array, or its little-endian bytes at any
/// alignment. Copied into `out`.
void vectorArgument(const Napi::CallbackInfo& info, size_t position, uint32_t dimension,
                    std::vector<float>& out);
/// `{ ids, vectors, rendered, renderedEnds }`; the memory belongs to the caller.
Batch batchArgument(const Napi::CallbackInfo& info, size_t position, uint32_t dimension);
/// A Uint32Array of (first, count) pairs.
std::vector<uint32_t> pairsArgument(const Napi::CallbackInfo& info, size_t position,
                                    const char* name);
/// `[{ dimension, ranges: Uint32Array }]`.
std::vector<ScopeRanges> rangesArgument(const Napi::CallbackInfo& info, size_t position);

/// The open project that argument 0 names. Throws an Error when it is not open.
std::shared_ptr<Project> projectArgument(const Napi::CallbackInfo& info);
/// The scope that arguments 0 and 1 name; null when it is not loaded.
std::shared_ptr<const Scope> scopeArguments(const Napi::CallbackInfo& info);
/// Reads vector, dimension, limit and threshold from argument 2 on.
void queryArguments(const Napi::CallbackInfo& info, SearchBody& body);

}  // namespace tessera
