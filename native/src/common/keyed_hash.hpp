// SipHash: a hash for tables whose keys callers choose. A caller cannot construct collisions without the secret key.
// A fast hash with a seed does not prevent collisions.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tessera {

/// The key of a hash.
struct HashKey {
  uint64_t first;
  uint64_t second;

  static HashKey random();
  /// The key of this process, for hashes that are not stored.
  static const HashKey& ofProcess();
};

/// SipHash with this many rounds per word and at the end, after https://www.aumasson.jp/siphash/siphash.pdf. It is
/// compiled for 1 and 3, and for tests with published hashes also for 2 and 4.
template <int WORD_ROUNDS, int LAST_ROUNDS>
uint64_t sipHash(const void* data, size_t length, const HashKey& key);

/// SipHash-1-3. Snapshots store hashes of it, so it must not change.
inline uint64_t keyedHash(const void* data, size_t length, const HashKey& key = HashKey::ofProcess()) {
  return sipHash<1, 3>(data, length, key);
}

/// The hash of containers in memory. With std::equal_to<>, a lookup takes a part of a text without copying it.
struct KeyedHash {
  using is_transparent = void;

  size_t operator()(std::string_view text) const { return keyedHash(text.data(), text.size()); }
  size_t operator()(std::u16string_view text) const {
    return keyedHash(text.data(), text.size() * sizeof(char16_t));
  }
  size_t operator()(uint64_t value) const { return keyedHash(&value, sizeof value); }
};

}  // namespace tessera
