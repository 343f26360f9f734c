// Arithmetic over vectors and codes, chosen once at start for the processor at hand.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tessera {

/// Bit planes of a query that was rounded to four bits (two's complement) an element.
inline constexpr size_t QUERY_PLANES = 4;

struct Kernels {
  const char* name;

  /// Dot product of two float32 vectors, accumulated in double precision. `length` is a multiple of
  /// 16.
  double (*dot)(const float* a, const float* b, size_t length);

  /// For each of `count` codes of `words` 64-bit words: the sum of the query's elements where the
  /// code has a one. `planes` holds QUERY_PLANES runs of `words` words; `words` is a multiple of 4,
  /// 64 at most.
  void (*sumSelected)(const uint8_t* const* codes, size_t count, const uint64_t* planes,
                      size_t words, int32_t* sums);

  /// Sum of products of a fine code (four bits an element, 0 to 15, in blocks of 64 elements whose
  /// first half lies in the low nibbles) and a query of signed bytes, none of them -128.
  int32_t (*dotFine)(const uint8_t* code, const int8_t* query, size_t length);

  /// Bits in which two codes differ.
  uint32_t (*hamming)(const uint8_t* a, const uint8_t* b, size_t words);

  /// Walsh-Hadamard transform in place, not scaled. `length` is a power of two from 32.
  void (*hadamard)(float* values, size_t length);
};

/// The kernels in use: the fastest that this processor can run, unless others were chosen.
const Kernels& kernels();

/// More than there are for any one architecture.
inline constexpr size_t MAX_KERNELS = 4;

/// All kernels that this processor can run, the portable ones first and the fastest last.
size_t usableKernels(const Kernels* out[MAX_KERNELS]);

/// Lets the whole process use other kernels from now on. They compute the same to the last bit, so
/// that searches in flight may change over at any call.
void chooseKernels(const Kernels& kernels);

extern const Kernels portableKernels;
extern const Kernels avx2Kernels;
extern const Kernels avx512Kernels;
extern const Kernels neonKernels;

}  // namespace tessera
