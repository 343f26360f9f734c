// What every fuzz target needs. A target is compiled with libFuzzer, AddressSanitizer and
// UndefinedBehaviorSanitizer by scripts/fuzz-native.ts.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

/// Ends the process with a message, which libFuzzer reports with the input, unless this holds.
#define CHECK(condition)                                             \
  do {                                                               \
    if (!(condition)) {                                              \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                  \
    }                                                                \
  } while (false)

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
