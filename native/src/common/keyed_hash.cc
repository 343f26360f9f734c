#include "common/keyed_hash.hpp"

#include <bit>
#include <cstring>
#include <random>

namespace tessera {

HashKey HashKey::random() {
  std::random_device device;
  const auto word = [&] { return uint64_t{device()} << 32 | device(); };
  return {word(), word()};
}

const HashKey& HashKey::ofProcess() {
  static const HashKey key = random();
  return key;
}

namespace {

struct State {
  uint64_t a, b, c, d;

  void mix(int rounds) {
    for (int round = 0; round < rounds; round++) {
      a += b;
      c += d;
      b = std::rotl(b, 13) ^ a;
      d = std::rotl(d, 16) ^ c;
      a = std::rotl(a, 32);
      c += b;
      a += d;
      b = std::rotl(b, 17) ^ c;
      d = std::rotl(d, 21) ^ a;
      c = std::rotl(c, 32);
    }
  }
  void add(uint64_t word, int rounds) {
    d ^= word;
    mix(rounds);
    a ^= word;
  }
};

}  // namespace

template <int WORD_ROUNDS, int LAST_ROUNDS>
uint64_t sipHash(const void* data, size_t length, const HashKey& key) {
  State state{key.first ^ 0x736f6d6570736575, key.second ^ 0x646f72616e646f6d,
              key.first ^ 0x6c7967656e657261, key.second ^ 0x7465646279746573};
  const uint8_t* at = static_cast<const uint8_t*>(data);
  uint64_t word = 0;
  for (size_t words = length / sizeof word; words > 0; words--, at += sizeof word) {
    std::memcpy(&word, at, sizeof word);
    state.add(word, WORD_ROUNDS);
  }
  // The last word has the bytes that are left, and the length.
  word = uint64_t{length} << 56;
  for (size_t i = 0; i < length % sizeof word; i++) word |= uint64_t{at[i]} << (8 * i);
  state.add(word, WORD_ROUNDS);
  state.c ^= 0xff;
  state.mix(LAST_ROUNDS);
  return state.a ^ state.b ^ state.c ^ state.d;
}

template uint64_t sipHash<1, 3>(const void* data, size_t length, const HashKey& key);
template uint64_t sipHash<2, 4>(const void* data, size_t length, const HashKey& key);

}  // namespace tessera
