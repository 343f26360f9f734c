#include "arguments.hpp"

#include <cmath>
#include <cstring>

#include "body.hpp"

namespace tessera {

[[noreturn]] static void refuse(Napi::Env env, const std::string& message) {
  throw Napi::TypeError::New(env, message);
}

std::string stringArgument(const Napi::CallbackInfo& info, size_t position, const char* name,
                           size_t maxBytes) {
  const Napi::Value value = info[position];
  if (!value.IsString()) refuse(info.Env(), std::string(name) + " must be a string");
  std::string text = value.As<Napi::String>().Utf8Value();
  if (text.empty() || text.size() > maxBytes) {
    refuse(info.Env(), std::string(name) + " is empty or too long");
  }
  return text;
}

std::string nameArgument(const Napi::CallbackInfo& info, size_t position, const char* name) {
  return stringArgument(info, position, name, MAX_NAME_BYTES);
}

static Bytes bytesOf(Napi::Env env, const Napi::Value& value, const char* name) {
  if (value.IsTypedArray()) {
    const auto array = value.As<Napi::TypedArray>();
    if (array.TypedArrayType() == napi_uint8_array) {
      const auto bytes = value.As<Napi::Uint8Array>();
      return {bytes.Data(), bytes.ByteLength()};
    }
  } else if (value.IsArrayBuffer()) {
    auto buffer = value.As<Napi::ArrayBuffer>();
    return {static_cast<const uint8_t*>(buffer.Data()), buffer.ByteLength()};
  }
  refuse(env, std::string(name) + " must be a Uint8Array or an ArrayBuffer");
}

Bytes bytesArgument(const Napi::CallbackInfo& info, size_t position, const char* name) {
  return bytesOf(info.Env(), info[position], name);
}

uint32_t integerArgument(const Napi::CallbackInfo& info, size_t position, const char* name,
                         uint32_t least, uint32_t most) {
  const Napi::Value value = info[position];
  const double number = value.IsNumber() ? value.As<Napi::Number>().DoubleValue() : NAN;
  if (!(number >= least && number <= most) || number != std::floor(number)) {
    refuse(info.Env(), std::string(name) + " must be a whole number from " +
                           std::to_string(least) + " to " + std::to_string(most));
  }
  return static_cast<uint32_t>(number);
}

static uint32_t dimensionOf(Napi::Env env, const Napi::Value& value) {
  const double number = value.IsNumber() ? value.As<Napi::Number>().DoubleValue() : 0;
  const bool fits = number >= 1 && number <= MAX_DIMENSION && number == std::floor(number);
  const auto dimension = fits ? static_cast<uint32_t>(number) : 0;
  if (dimensionSlot(dimension) < 0) {
    refuse(env, "dimension must be one of 768, 1024, 1536, 3072, 4096");
  }
  return dimension;
}

uint32_t dimensionArgument(const Napi::CallbackInfo& info, size_t position) {
  return dimensionOf(info.Env(), info[position]);
}

double thresholdArgument(const Napi::CallbackInfo& info, size_t position) {
  const Napi::Value value = info[position];
  const double number = value.IsNumber() ? value.As<Napi::Number>().DoubleValue() : NAN;
  if (!(number >= -1 && number <= 1)) {
    refuse(info.Env(), "threshold must be a number from -1 to 1");
  }
  return number;
}

void vectorArgument(const Napi::CallbackInfo& info, size_t position, uint32_t dimension,
                    std::vector<float>& out) {
  const Napi::Value value = info[position];
  Bytes bytes{};
  if (value.IsTypedArray() &&
      value.As<Napi::TypedArray>().TypedArrayType() == napi_float32_array) {
    const auto floats = value.As<Napi::Float32Array>();
    bytes = {reinterpret_cast<const uint8_t*>(floats.Data()), floats.ByteLength()};
  } else {
    bytes = bytesOf(info.Env(), value, "vector");
  }
  if (bytes.length != dimension * sizeof(float)) {
    refuse(info.Env(), "vector must have as many elements as its dimension says");
  }
  out.resize(dimension);
  std::memcpy(out.data(), bytes.data, bytes.length);
  if (!usableVector(out.data(), dimension)) {
    refuse(info.Env(), "vector must be finite and not all zero");
  }
}

Batch batchArgument(const Napi::CallbackInfo& info, size_t position, uint32_t dimension) {
  const Napi::Env env = info.Env();
  if (!info[position].IsObject()) refuse(env, "batch must be an object");
  const auto object = info[position].As<Napi::Object>();
  const Bytes ids = bytesOf(env, object.Get("ids"), "batch.ids");
  const Bytes rendered = bytesOf(env, object.Get("rendered"), "batch.rendered");
  const Napi::Value vectors = object.Get("vectors");
  const Napi::Value ends = object.Get("renderedEnds");
  if (!vectors.IsTypedArray() ||
      vectors.As<Napi::TypedArray>().TypedArrayType() != napi_float32_array) {
    refuse(env, "batch.vectors must be a Float32Array");
  }
  if (!ends.IsTypedArray() ||
      ends.As<Napi::TypedArray>().TypedArrayType() != napi_uint32_array) {
    refuse(env, "batch.renderedEnds must be a Uint32Array");
  }
  const auto floats = vectors.As<Napi::Float32Array>();
  const auto offsets = ends.As<Napi::Uint32Array>();
  const size_t count = offsets.ElementLength();
  if (count > MAX_ROWS || ids.length != count * sizeof(ChunkId) ||
      floats.ElementLength() != count * dimension) {
    refuse(env, "batch.ids, batch.vectors and batch.renderedEnds must be of the same chunks");
  }
  uint32_t last = 0;
  for (size_t i = 0; i < count; i++) {
    const uint32_t end = offsets.Data()[i];
    if (end <= last || end > rendered.length || end - last > MAX_TEXT_BYTES) {
      refuse(env, "batch.renderedEnds must ascend within batch.rendered");
    }
    last = end;
  }
  if (last != rendered.length) refuse(env, "batch.rendered must end where its last text does");
  for (size_t i = 0; i < count; i++) {
    if (!usableVector(floats.Data() + i * dimension, dimension)) {
      refuse(env, "batch.vectors must be finite and not all zero");
    }
  }
  return {static_cast<uint32_t>(count),
          ids.data,
          floats.Data(),
          {reinterpret_cast<const char*>(rendered.data), rendered.length},
          offsets.Data()};
}

std::vector<ScopeRanges> rangesArgument(const Napi::CallbackInfo& info, size_t position) {
  const Napi::Env env = info.Env();
  if (!info[position].IsArray()) refuse(env, "ranges must be an array");
  const auto array = info[position].As<Napi::Array>();
  if (array.Length() > DIMENSION_COUNT) refuse(env, "ranges must name each dimension once");
  std::vector<ScopeRanges> result;
  for (uint32_t i = 0; i < array.Length(); i++) {
    const Napi::Value entry = array.Get(i);
    if (!entry.IsObject()) refuse(env, "ranges must hold objects");
    const auto object = entry.As<Napi::Object>();
    const Napi::Value pairs = object.Get("ranges");
    if (!pairs.IsTypedArray() ||
        pairs.As<Napi::TypedArray>().TypedArrayType() != napi_uint32_array) {
      refuse(env, "ranges must be a Uint32Array of start, count pairs");
    }
    const auto numbers = pairs.As<Napi::Uint32Array>();
    if (numbers.ElementLength() % 2 != 0) {
      refuse(env, "ranges must be a Uint32Array of start, count pairs");
    }
    const uint32_t dimension = dimensionOf(env, object.Get("dimension"));
    for (const ScopeRanges& other : result) {
      if (other.dimension == dimension) refuse(env, "ranges must name each dimension once");
    }
    result.push_back(
        {dimension, {numbers.Data(), numbers.Data() + numbers.ElementLength()}});
  }
  return result;
}

}  // namespace tessera
