// Allocated memory, counted instead of measured.
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "binding/arguments.hpp"
#include "storage/slab.hpp"
#include "testing/calls.hpp"

namespace tessera {

/// The bytes that are allocated in the heaps of the C library; 0 if the library does not report them.
static double heapBytes() {
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
  const struct mallinfo2 heaps = mallinfo2();
  return static_cast<double>(heaps.uordblks + heaps.hblkhd);
#else
  return 0;
#endif
}

Napi::Value heldMemory(const Napi::CallbackInfo& info) {
  const auto result = Napi::Object::New(info.Env());
  result.Set("slabs", Napi::Number::New(info.Env(), static_cast<double>(Slab::reservedBytes())));
  result.Set("heap", Napi::Number::New(info.Env(), heapBytes()));
  return result;
}

Napi::Value hashProbes(const Napi::CallbackInfo& info) {
  const auto index = projectArgument(info)->index(indexSlot(dimensionArgument(info, 1)));
  uint64_t probes = 0;
  if (index) {
    for (const auto& shard : index->shards()) probes += shard->vectors().probes();
  }
  return Napi::Number::New(info.Env(), static_cast<double>(probes));
}

}  // namespace tessera
