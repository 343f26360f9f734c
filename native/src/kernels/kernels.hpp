// Arithmetic over vectors and codes, and numbers in text, in one version per instruction set.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tessera {

/// Bit planes of a query whose elements were rounded to four bits, in two's complement.
inline constexpr size_t QUERY_PLANES = 4;

/// The levels of a vector's elements, 0 to 7, as bit planes: `signs` has the highest bits, and `rest` the middle
/// ones and then the lowest ones.
struct Code3Bit {
  const uint8_t* signs;
  const uint8_t* rest;
};

struct Kernels {
  const char* name;

  /// Dot product of two float32 vectors, accumulated in double precision. `length` is a multiple of
  /// 16.
  double (*dot)(const float* a, const float* b, size_t length);

  /// Dot products of a query and `count` 1-bit codes of `words` 64-bit words: the sum of the
  /// query's elements where the code has a one. `planes` holds QUERY_PLANES runs of `words` words.
  /// `words` is a multiple of 4 and at most 64.
  void (*dot1Bit)(const uint8_t* const* codes, size_t count, const uint64_t* planes,
                      size_t words, int32_t* sums);

  /// Dot product of the levels of a code and a query of signed bytes, none of them -128. `length` is a multiple
  /// of 64.
  int32_t (*dot3Bit)(Code3Bit code, const int8_t* query, size_t length);

  /// Sum of the products of the levels of two codes. `length` is a multiple of 256 and at most 4096.
  int32_t (*dotLevels)(Code3Bit a, Code3Bit b, size_t length);

  /// Walsh-Hadamard transform in place, unscaled. `length` is a power of two, at least 32.
  void (*hadamard)(float* values, size_t length);

  /// Rounds `values * inverseStep` to whole numbers in [min, max], which are at least -128 and at most 127, and returns
  /// their sum. `length` is a multiple of 8 and at most 4096.
  int32_t (*roundToBytes)(const float* values, size_t length, float inverseStep, float min, float max, int8_t* out);

  /// Parses elements of a JSON array from `at` on while they have the form of nearly all elements of vectors: at
  /// most one space, an optional sign, a zero, a point, up to 23 digits, and a comma. Moves `at` after the comma of
  /// the last parsed element and returns the number of elements, at most `most`. It may stop before any element.
  size_t (*parseFractions)(const char*& at, const char* end, float* out, size_t most);
};

/// The kernels in use: the fastest that this processor supports, unless others were selected.
const Kernels& kernels();

/// Upper bound of the number of kernels of an architecture.
inline constexpr size_t MAX_KERNELS = 4;

/// Writes all kernels that this processor supports, from portable to fastest, and returns their
/// number.
size_t supportedKernels(const Kernels* out[MAX_KERNELS]);

/// Switches the whole process to other kernels, for tests. All sets compute the same to the last
/// bit, so searches in flight may switch between any two calls.
void selectKernels(const Kernels& kernels);

extern const Kernels portableKernels;
extern const Kernels avx2Kernels;
extern const Kernels avx512Kernels;
extern const Kernels neonKernels;

}  // namespace tessera
