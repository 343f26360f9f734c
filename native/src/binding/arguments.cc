#include "binding/arguments.hpp"

#include <cmath>
#include <cstring>

#include "common/usable_vector.hpp"

namespace tessera {

void throwTypeError(Napi::Env env, const std::string& message) {
  throw Napi::TypeError::New(env, message);
}

std::string stringArgument(const Napi::CallbackInfo& info, size_t position, const char* name,
                           size_t maxBytes) {
  const Napi::Value value = info[position];
  if (!value.IsString()) throwTypeError(info.Env(), std::string(name) + " must be a string");
  std::string text = value.As<Napi::String>().Utf8Value();
  if (text.empty() || text.size() > maxBytes) {
    throwTypeError(info.Env(), std::string(name) + " is empty or too long");
  }
  return text;
}

std::string nameArgument(const Napi::CallbackInfo& info, size_t position, const char* name) {
  return stringArgument(info, position, name, MAX_NAME_BYTES);
}

Bytes bytesOf(Napi::Env env, const Napi::Value& value, const char* name) {
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
  throwTypeError(env, std::string(name) + " must be a Uint8Array or an ArrayBuffer");
}

Bytes bytesArgument(const Napi::CallbackInfo& info, size_t position, const char* name) {
  return bytesOf(info.Env(), info[position], name);
}

uint32_t integerArgument(const Napi::CallbackInfo& info, size_t position, const char* name,
                         uint32_t min, uint32_t max) {
  const Napi::Value value = info[position];
  const double number = value.IsNumber() ? value.As<Napi::Number>().DoubleValue() : NAN;
  if (!(number >= min && number <= max) || number != std::floor(number)) {
    throwTypeError(info.Env(), std::string(name) + " must be a whole number from " +
                           std::to_string(min) + " to " + std::to_string(max));
  }
  return static_cast<uint32_t>(number);
}

uint32_t dimensionOf(Napi::Env env, const Napi::Value& value) {
  const double number = value.IsNumber() ? value.As<Napi::Number>().DoubleValue() : 0;
  const bool fits = number >= 1 && number <= MAX_DIMENSION && number == std::floor(number);
  const auto dimension = fits ? static_cast<uint32_t>(number) : 0;
  if (dimensionSlot(dimension) < 0) {
    throwTypeError(env, "dimension must be one of 768, 1024, 1536, 3072, 4096");
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
    throwTypeError(info.Env(), "threshold must be a number from -1 to 1");
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
    throwTypeError(info.Env(), "vector must have `dimension` elements");
  }
  out.resize(dimension);
  std::memcpy(out.data(), bytes.data, bytes.length);
  if (!isUsableVector(out.data(), dimension)) {
    throwTypeError(info.Env(), "vector must be finite and not all zero");
  }
}

std::shared_ptr<Project> projectArgument(const Napi::CallbackInfo& info) {
  const std::string id = nameArgument(info, 0, "projectId");
  std::shared_ptr<Project> project = Registry::instance().find(id);
  if (!project) throw Napi::Error::New(info.Env(), "the project is not open");
  return project;
}

std::shared_ptr<const Scope> scopeArguments(const Napi::CallbackInfo& info) {
  const auto project = Registry::instance().find(nameArgument(info, 0, "projectId"));
  const std::string scopeId = nameArgument(info, 1, "scopeId");
  return project ? project->scope(scopeId) : nullptr;
}

void queryArguments(const Napi::CallbackInfo& info, SearchBody& body) {
  body.dimension = dimensionArgument(info, 3);
  vectorArgument(info, 2, body.dimension, body.vector);
  body.limit = integerArgument(info, 4, "limit", 1, MAX_LIMIT);
  body.threshold = thresholdArgument(info, 5);
}

}  // namespace tessera
