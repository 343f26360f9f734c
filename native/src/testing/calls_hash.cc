// The keyed hash, for tests that compare it with published ones and between processes.
#include <cstring>

#include "binding/arguments.hpp"
#include "common/keyed_hash.hpp"
#include "testing/calls.hpp"

namespace tessera {

Napi::Value sipHashCall(const Napi::CallbackInfo& info) {
  const std::string rounds = nameArgument(info, 0, "rounds");
  const Bytes message = bytesArgument(info, 2, "message");
  HashKey key = HashKey::ofProcess();
  if (!info[1].IsUndefined()) {
    const Bytes keyBytes = bytesArgument(info, 1, "key");
    if (keyBytes.length != sizeof key) throwTypeError(info.Env(), "a key has 16 bytes");
    std::memcpy(&key, keyBytes.data, sizeof key);
  }
  const uint64_t hash = rounds == "1-3" ? keyedHash(message.data, message.length, key)
                                        : sipHash<2, 4>(message.data, message.length, key);
  return Napi::BigInt::New(info.Env(), hash);
}

}  // namespace tessera
