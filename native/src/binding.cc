// Registers the functions with the JavaScript runtime; nothing else.
#include <napi.h>

#include <stdexcept>
#include <vector>

#include "calls.hpp"

namespace tessera {

/// Turns C++ exceptions into JavaScript errors at the one place where they would leave C++.
template <Napi::Value (*call)(const Napi::CallbackInfo&)>
static Napi::Value guarded(const Napi::CallbackInfo& info) {
  try {
    return call(info);
  } catch (const Napi::Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw Napi::Error::New(info.Env(), "out of memory");
  } catch (const std::out_of_range& error) {
    throw Napi::RangeError::New(info.Env(), error.what());
  } catch (const std::exception& error) {
    throw Napi::Error::New(info.Env(), error.what());
  }
}

template <Napi::Value (*call)(const Napi::CallbackInfo&)>
static void add(Napi::Env env, Napi::Object& exports, const char* name) {
  exports.Set(name, Napi::Function::New<guarded<call>>(env, name));
}

#ifdef TESSERA_ASAN
/// Reads one byte behind a block of memory: proves that the sanitizer watches this very artefact.
static Napi::Value readBeyondEnd(const Napi::CallbackInfo& info) {
  const auto length = static_cast<size_t>(info[0].As<Napi::Number>().Uint32Value());
  const std::vector<uint8_t> block(length, 1);
  const volatile uint8_t* behind = block.data() + length;
  return Napi::Number::New(info.Env(), *behind);
}
#endif

static Napi::Object registerAll(Napi::Env env, Napi::Object exports) {
  add<openProject>(env, exports, "openProject");
  add<dropProject>(env, exports, "dropProject");
  add<append>(env, exports, "append");
  add<extendGraph>(env, exports, "extendGraph");
  add<setScope>(env, exports, "setScope");
  add<dropScope>(env, exports, "dropScope");
  add<hasScope>(env, exports, "hasScope");
  add<searchJson>(env, exports, "searchJson");
  add<searchVector>(env, exports, "searchVector");
  add<parseSearchBodyCall>(env, exports, "parseSearchBody");
  add<exactSearchCall>(env, exports, "exactSearch");
  add<searchRaw>(env, exports, "searchRaw");
  add<snapshot>(env, exports, "snapshot");
  add<restore>(env, exports, "restore");
  add<beginSnapshot>(env, exports, "beginSnapshot");
  add<beginRestore>(env, exports, "beginRestore");
  add<finishJob>(env, exports, "finishJob");
  add<stats>(env, exports, "stats");
  add<projects>(env, exports, "projects");
  add<tryLockFile>(env, exports, "tryLockFile");
  add<unlockFileCall>(env, exports, "unlockFile");
  add<lowerThreadPriorityCall>(env, exports, "lowerThreadPriority");
  add<kernelSets>(env, exports, "kernelSets");
  add<useKernels>(env, exports, "useKernels");
  add<runKernel>(env, exports, "runKernel");
#ifdef TESSERA_ASAN
  add<readBeyondEnd>(env, exports, "readBeyondEnd");
#endif
  return exports;
}

}  // namespace tessera

static Napi::Object initialise(Napi::Env env, Napi::Object exports) {
  return tessera::registerAll(env, exports);
}

NODE_API_MODULE(tessera, initialise)
