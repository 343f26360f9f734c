// The functions that only tests and benchmarks call; native/testing.ts documents them.
#pragma once
#include <napi.h>

namespace tessera {

Napi::Value exactSearch(const Napi::CallbackInfo& info);
Napi::Value searchRaw(const Napi::CallbackInfo& info);
Napi::Value setGraphNodes(const Napi::CallbackInfo& info);
Napi::Value useHelpers(const Napi::CallbackInfo& info);
Napi::Value blockOnJobsCall(const Napi::CallbackInfo& info);

Napi::Value kernelSets(const Napi::CallbackInfo& info);
Napi::Value useKernels(const Napi::CallbackInfo& info);
Napi::Value runKernel(const Napi::CallbackInfo& info);

Napi::Value constants(const Napi::CallbackInfo& info);

Napi::Value sipHashCall(const Napi::CallbackInfo& info);

Napi::Value heldMemory(const Napi::CallbackInfo& info);
Napi::Value hashProbes(const Napi::CallbackInfo& info);

Napi::Value unitKind(const Napi::CallbackInfo& info);
Napi::Value languageNamedCall(const Napi::CallbackInfo& info);
Napi::Value surfaceFormCall(const Napi::CallbackInfo& info);
Napi::Value analyseQueryCall(const Napi::CallbackInfo& info);

Napi::Value markdownPlainText(const Napi::CallbackInfo& info);
Napi::Value renderedHeading(const Napi::CallbackInfo& info);
Napi::Value renderedContent(const Napi::CallbackInfo& info);

}  // namespace tessera
