// JavaScript arguments, checked before any memory is touched.
#pragma once
#include <napi.h>

#include <string>
#include <vector>

#include "index.hpp"
#include "project.hpp"

namespace tessera {

struct Bytes {
  const uint8_t* data;
  size_t length;
};

/// A non-empty string of at most `maxBytes` UTF-8 bytes.
std::string stringArgument(const Napi::CallbackInfo& info, size_t position, const char* name,
                           size_t maxBytes);
std::string nameArgument(const Napi::CallbackInfo& info, size_t position, const char* name);
/// A Uint8Array or an ArrayBuffer.
Bytes bytesArgument(const Napi::CallbackInfo& info, size_t position, const char* name);
/// One of the dimensions that an index may have.
uint32_t dimensionArgument(const Napi::CallbackInfo& info, size_t position);
/// A whole number within bounds.
uint32_t integerArgument(const Napi::CallbackInfo& info, size_t position, const char* name,
                         uint32_t least, uint32_t most);
double thresholdArgument(const Napi::CallbackInfo& info, size_t position);
/// A usable query vector of `dimension` elements: a Float32Array, or its little-endian bytes at any
/// alignment. Copied into `out`.
void vectorArgument(const Napi::CallbackInfo& info, size_t position, uint32_t dimension,
                    std::vector<float>& out);
/// `{ ids, vectors, rendered, renderedEnds }`; the memory belongs to the caller.
Batch batchArgument(const Napi::CallbackInfo& info, size_t position, uint32_t dimension);
/// `[{ dimension, ranges: Uint32Array }]`.
std::vector<ScopeRanges> rangesArgument(const Napi::CallbackInfo& info, size_t position);

}  // namespace tessera
