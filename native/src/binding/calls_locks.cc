// Calls that lock files.
#include "binding/arguments.hpp"
#include "binding/calls.hpp"
#include "storage/file.hpp"

namespace tessera {

Napi::Value tryLockFile(const Napi::CallbackInfo& info) {
  const int handle = lockFile(stringArgument(info, 0, "path", MAX_PATH_BYTES));
  if (handle < 0) return info.Env().Null();
  return Napi::Number::New(info.Env(), handle);
}

Napi::Value unlockFileCall(const Napi::CallbackInfo& info) {
  unlockFile(static_cast<int>(integerArgument(info, 0, "handle", 0, 0x7fffffff)));
  return info.Env().Undefined();
}

}  // namespace tessera
