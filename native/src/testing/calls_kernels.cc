// Calls that select kernels and run single ones, so that one machine can test every set that it supports.
#include <bit>
#include <cstring>

#include "binding/arguments.hpp"
#include "kernels/kernels.hpp"
#include "testing/calls.hpp"

namespace tessera {

static const Kernels& kernelsArgument(const Napi::CallbackInfo& info) {
  const std::string name = nameArgument(info, 0, "kernels");
  const Kernels* usable[MAX_KERNELS];
  const size_t count = supportedKernels(usable);
  for (size_t i = 0; i < count; i++) {
    if (name == usable[i]->name) return *usable[i];
  }
  throw Napi::RangeError::New(info.Env(), "this processor does not support these kernels");
}

Napi::Value kernelSets(const Napi::CallbackInfo& info) {
  const Kernels* usable[MAX_KERNELS];
  const size_t count = supportedKernels(usable);
  const auto names = Napi::Array::New(info.Env(), count);
  for (size_t i = 0; i < count; i++) {
    names.Set(static_cast<uint32_t>(i), Napi::String::New(info.Env(), usable[i]->name));
  }
  return names;
}

Napi::Value useKernels(const Napi::CallbackInfo& info) {
  selectKernels(kernelsArgument(info));
  return info.Env().Undefined();
}

namespace {

/// An operand in a block that ends with its last byte, so that a sanitizer reports every read
/// beyond it. It begins 8 bytes after an aligned address, as rows do.
class Operand {
 public:
  explicit Operand(Bytes bytes) : block_(SHIFT + bytes.length) {
    std::copy_n(bytes.data, bytes.length, block_.begin() + SHIFT);
  }
  template <typename T>
  T* as() {
    return reinterpret_cast<T*>(block_.data() + SHIFT);
  }

 private:
  static constexpr size_t SHIFT = 8;
  std::vector<uint8_t> block_;
};

/// One run of a kernel on two operands of raw bytes.
struct Run {
  Napi::Env env;
  const Kernels& set;
  Bytes left;
  Bytes right;

  void require(bool fits) const {
    if (fits) return;
    throw Napi::TypeError::New(env, "the kernel does not accept operands of these lengths");
  }

  Napi::Value dot() const {
    require(left.length == right.length && left.length % (16 * sizeof(float)) == 0);
    Operand a(left), b(right);
    const size_t length = left.length / sizeof(float);
    return Napi::Number::New(env, set.dot(a.as<float>(), b.as<float>(), length));
  }

  Napi::Value hadamard() const {
    const size_t length = left.length / sizeof(float);
    require(left.length % sizeof(float) == 0 && length >= 32 && std::has_single_bit(length));
    Operand values(left);
    set.hadamard(values.as<float>(), length);
    auto result = Napi::Float32Array::New(env, length);
    std::memcpy(result.Data(), values.as<float>(), left.length);
    return result;
  }

  /// The bytes, and their sum in four more. On the right are the step's inverse and the bounds.
  Napi::Value roundToBytes() const {
    const size_t length = left.length / sizeof(float);
    require(left.length % (8 * sizeof(float)) == 0 && right.length == 3 * sizeof(float) &&
            length <= MAX_DIMENSION);
    Operand values(left), parameters(right);
    const float* given = parameters.as<float>();
    auto result = Napi::Int8Array::New(env, length + sizeof(int32_t));
    const int32_t sum = set.roundToBytes(values.as<float>(), length, given[0], given[1], given[2],
                                         result.Data());
    std::memcpy(result.Data() + length, &sum, sizeof sum);
    return result;
  }

  /// A code's signs, followed by the rest of its levels.
  static Code3Bit codeIn(Operand& operand, size_t length) {
    const uint8_t* signs = operand.as<uint8_t>();
    return {signs, signs + length / 8};
  }

  Napi::Value dot3Bit() const {
    const size_t length = right.length;
    require(length % 64 == 0 && left.length == length / 8 * 3);
    Operand code(left), query(right);
    return Napi::Number::New(env, set.dot3Bit(codeIn(code, length), query.as<int8_t>(), length));
  }

  Napi::Value dotLevels() const {
    const size_t length = left.length / 3 * 8;
    require(left.length == right.length && left.length % 96 == 0 && length <= MAX_DIMENSION);
    Operand a(left), b(right);
    return Napi::Number::New(env, set.dotLevels(codeIn(a, length), codeIn(b, length), length));
  }

  Napi::Value dot1Bit() const {
    const size_t words = right.length / QUERY_PLANES / sizeof(uint64_t);
    const size_t codeBytes = words * sizeof(uint64_t);
    require(right.length == QUERY_PLANES * codeBytes && words > 0 && words % 4 == 0 &&
           words <= MAX_DIMENSION / 64 && left.length % codeBytes == 0);
    Operand codes(left), planes(right);
    std::vector<const uint8_t*> rows;
    for (size_t at = 0; at < left.length; at += codeBytes) {
      rows.push_back(codes.as<uint8_t>() + at);
    }
    auto sums = Napi::Int32Array::New(env, rows.size());
    set.dot1Bit(rows.data(), rows.size(), planes.as<uint64_t>(), words, sums.Data());
    return sums;
  }
};

}  // namespace

Napi::Value runKernel(const Napi::CallbackInfo& info) {
  const Kernels& set = kernelsArgument(info);
  const std::string operation = nameArgument(info, 1, "operation");
  const Run run{info.Env(), set, bytesArgument(info, 2, "left"), bytesArgument(info, 3, "right")};
  if (operation == "dot") return run.dot();
  if (operation == "hadamard") return run.hadamard();
  if (operation == "roundToBytes") return run.roundToBytes();
  if (operation == "dot3Bit") return run.dot3Bit();
  if (operation == "dotLevels") return run.dotLevels();
  if (operation == "dot1Bit") return run.dot1Bit();
  throw Napi::RangeError::New(info.Env(), "the kernel does not exist");
}

}  // namespace tessera
