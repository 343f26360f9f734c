// Arguments with many members: batches of chunks, and the ranges of a scope.
#include "binding/arguments.hpp"
#include "common/usable_vector.hpp"

namespace tessera {

/// Throws unless the texts are not empty, not too long, and fill the rendered bytes.
static void checkEnds(Napi::Env env, const uint32_t* ends, size_t count, size_t renderedBytes) {
  uint32_t last = 0;
  for (size_t i = 0; i < count; i++) {
    if (ends[i] <= last || ends[i] > renderedBytes || ends[i] - last > MAX_TEXT_BYTES) {
      throwTypeError(env, "batch.renderedEnds must ascend within batch.rendered");
    }
    last = ends[i];
  }
  if (last != renderedBytes) {
    throwTypeError(env, "batch.rendered must end where its last text ends");
  }
}

static bool isTypedArray(const Napi::Value& value, napi_typedarray_type type) {
  return value.IsTypedArray() && value.As<Napi::TypedArray>().TypedArrayType() == type;
}

Batch batchArgument(const Napi::CallbackInfo& info, size_t position, uint32_t dimension) {
  const Napi::Env env = info.Env();
  if (!info[position].IsObject()) throwTypeError(env, "batch must be an object");
  const auto object = info[position].As<Napi::Object>();
  const Bytes ids = bytesOf({env, object.Get("ids"), "batch.ids"});
  const Bytes rendered = bytesOf({env, object.Get("rendered"), "batch.rendered"});
  const Napi::Value vectors = object.Get("vectors");
  const Napi::Value ends = object.Get("renderedEnds");
  if (!isTypedArray(vectors, napi_float32_array)) {
    throwTypeError(env, "batch.vectors must be a Float32Array");
  }
  if (!isTypedArray(ends, napi_uint32_array)) {
    throwTypeError(env, "batch.renderedEnds must be a Uint32Array");
  }
  const auto floats = vectors.As<Napi::Float32Array>();
  const auto offsets = ends.As<Napi::Uint32Array>();
  const size_t count = offsets.ElementLength();
  if (count > MAX_ROWS || ids.length != count * sizeof(ChunkId) ||
      floats.ElementLength() != count * dimension) {
    throwTypeError(env,
                   "batch.ids, batch.vectors and batch.renderedEnds must describe the same chunks");
  }
  checkEnds(env, offsets.Data(), count, rendered.length);
  for (size_t i = 0; i < count && dimension != NO_VECTORS; i++) {
    if (!isUsableVector(floats.Data() + i * dimension, dimension)) {
      throwTypeError(env, "batch.vectors must be finite and not all zero");
    }
  }
  return {static_cast<uint32_t>(count),
          reinterpret_cast<const ChunkId*>(ids.data),
          floats.Data(),
          {reinterpret_cast<const char*>(rendered.data), rendered.length},
          offsets.Data()};
}

/// A Uint32Array of (first, count) pairs.
static std::vector<uint32_t> pairsOf(Napi::Env env, const Napi::Value& value, const char* name) {
  if (!isTypedArray(value, napi_uint32_array) ||
      value.As<Napi::Uint32Array>().ElementLength() % 2 != 0) {
    throwTypeError(env, std::string(name) + " must be a Uint32Array of start, count pairs");
  }
  const auto numbers = value.As<Napi::Uint32Array>();
  return {numbers.Data(), numbers.Data() + numbers.ElementLength()};
}

std::vector<uint32_t> pairsArgument(const Napi::CallbackInfo& info, size_t position,
                                    const char* name) {
  return pairsOf(info.Env(), info[position], name);
}

std::vector<ScopeRanges> rangesArgument(const Napi::CallbackInfo& info, size_t position) {
  const Napi::Env env = info.Env();
  if (!info[position].IsArray()) throwTypeError(env, "ranges must be an array");
  const auto array = info[position].As<Napi::Array>();
  if (array.Length() > INDEX_COUNT) throwTypeError(env, "ranges must name each dimension once");
  std::vector<ScopeRanges> result;
  for (uint32_t i = 0; i < array.Length(); i++) {
    const Napi::Value entry = array.Get(i);
    if (!entry.IsObject()) throwTypeError(env, "ranges must hold objects");
    const auto object = entry.As<Napi::Object>();
    const std::vector<uint32_t> pairs = pairsOf(env, object.Get("ranges"), "ranges");
    const uint32_t dimension = indexDimensionOf(env, object.Get("dimension"));
    for (const ScopeRanges& other : result) {
      if (other.dimension == dimension) throwTypeError(env, "ranges must name each dimension once");
    }
    result.push_back({dimension, pairs});
  }
  return result;
}

}  // namespace tessera
