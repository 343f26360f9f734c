#include "binding/arguments.hpp"

#include <cmath>
#include <cstring>

#include "common/usable_vector.hpp"

namespace tessera {

void throwTypeError(Napi::Env env, const std::string& message) {
  throw Napi::TypeError::New(env, message);
}

Fields::Fields(const Named& given)
    : object_(given.value.IsObject() ? given.value.As<Napi::Object>() : Napi::Object()) {
  if (object_.IsEmpty()) throwTypeError(given.env, std::string(given.name) + " must be an object");
}

std::string textOf(const Named& given) {
  if (!given.value.IsString()) throwTypeError(given.env, std::string(given.name) + " must be a string");
  return given.value.As<Napi::String>().Utf8Value();
}

std::u16string text16Of(const Named& given) {
  if (!given.value.IsString()) throwTypeError(given.env, std::string(given.name) + " must be a string");
  return given.value.As<Napi::String>().Utf16Value();
}

std::string stringOf(const Named& given, size_t maxBytes) {
  std::string text = textOf(given);
  if (text.empty() || text.size() > maxBytes) {
    throwTypeError(given.env, std::string(given.name) + " is empty or too long");
  }
  return text;
}

std::string nameOf(const Named& given) { return stringOf(given, MAX_NAME_BYTES); }

bool flagOf(const Named& given, bool fallback) {
  if (given.value.IsUndefined()) return fallback;
  if (!given.value.IsBoolean()) throwTypeError(given.env, std::string(given.name) + " must be a boolean");
  return given.value.As<Napi::Boolean>().Value();
}

Bytes bytesOf(const Named& given) {
  const auto& [env, value, name] = given;
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

Napi::Array listOf(const Named& given) {
  if (!given.value.IsArray()) throwTypeError(given.env, std::string(given.name) + " must be an array");
  return given.value.As<Napi::Array>();
}

uint32_t integerOf(const Named& given, uint32_t min, uint32_t max) {
  const auto& [env, value, name] = given;
  const double number = value.IsNumber() ? value.As<Napi::Number>().DoubleValue() : NAN;
  if (!(number >= min && number <= max) || number != std::floor(number)) {
    throwTypeError(env, std::string(name) + " must be a whole number from " + std::to_string(min) +
                            " to " + std::to_string(max));
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

uint32_t indexDimensionOf(Napi::Env env, const Napi::Value& value) {
  const bool isZero = value.IsNumber() && value.As<Napi::Number>().DoubleValue() == NO_VECTORS;
  return isZero ? NO_VECTORS : dimensionOf(env, value);
}

double thresholdOf(const Named& given) {
  const auto& [env, value, name] = given;
  const double number = value.IsNumber() ? value.As<Napi::Number>().DoubleValue() : NAN;
  if (!(number >= -1 && number <= 1)) throwTypeError(env, "threshold must be a number from -1 to 1");
  return number;
}

void vectorOf(const Named& given, uint32_t dimension, std::vector<float>& out) {
  const auto& [env, value, name] = given;
  Bytes bytes{};
  if (value.IsTypedArray() &&
      value.As<Napi::TypedArray>().TypedArrayType() == napi_float32_array) {
    const auto floats = value.As<Napi::Float32Array>();
    bytes = {reinterpret_cast<const uint8_t*>(floats.Data()), floats.ByteLength()};
  } else {
    bytes = bytesOf(given);
  }
  if (bytes.length != dimension * sizeof(float)) {
    throwTypeError(env, "vector must have `dimension` elements");
  }
  out.resize(dimension);
  std::memcpy(out.data(), bytes.data, bytes.length);
  if (!isUsableVector(out.data(), dimension)) {
    throwTypeError(env, "vector must be finite and not all zero");
  }
}

std::shared_ptr<Project> projectArgument(const Napi::CallbackInfo& info) {
  const std::string id = nameArgument(info, 0, "projectId");
  std::shared_ptr<Project> project = Registry::instance().find(id);
  if (!project) throw Napi::Error::New(info.Env(), "the project is not open");
  return project;
}

std::shared_ptr<const Scope> scopeOf(const Named& project, const Named& scope) {
  const auto found = Registry::instance().find(nameOf(project));
  const std::string scopeId = nameOf(scope);
  return found ? found->scope(scopeId) : nullptr;
}

void readQuery(const Named& vector, const Named& dimension, const Named& limit,
               const Named& threshold, SearchBody& body) {
  body.dimension = dimensionOf(dimension.env, dimension.value);
  vectorOf(vector, body.dimension, body.vector);
  body.limit = integerOf(limit, MIN_LIMIT, MAX_LIMIT);
  body.threshold = thresholdOf(threshold);
}

}  // namespace tessera
