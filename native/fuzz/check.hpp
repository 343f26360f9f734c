// The common header of all fuzz targets. scripts/fuzz-native.ts compiles a target with libFuzzer, AddressSanitizer
// and UndefinedBehaviorSanitizer.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

/// Unless the condition holds, ends the process with a message, which libFuzzer reports with the input.
#define CHECK(condition)                                             \
  do {                                                               \
    if (!(condition)) {                                              \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                  \
    }                                                                \
  } while (false)

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
