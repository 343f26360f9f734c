#include "common/checksum.hpp"

#include <cstring>
#include <initializer_list>

namespace tessera {

static constexpr uint64_t P1 = 0x9e3779b185ebca87ull, P2 = 0xc2b2ae3d27d4eb4full,
                          P3 = 0x165667b19e3779f9ull, P4 = 0x85ebca77c2b2ae63ull,
                          P5 = 0x27d4eb2f165667c5ull;

static inline uint64_t rotate(uint64_t value, int bits) {
  return (value << bits) | (value >> (64 - bits));
}

static inline uint64_t read64(const uint8_t* at) {
  uint64_t value;
  std::memcpy(&value, at, 8);
  return value;
}

static inline uint64_t mixLane(uint64_t lane, uint64_t input) {
  return rotate(lane + input * P2, 31) * P1;
}

uint64_t checksum(const void* data, size_t length) {
  const uint8_t* at = static_cast<const uint8_t*>(data);
  const uint8_t* const end = at + length;
  uint64_t hash = P5;
  if (length >= 32) {
    uint64_t a = P1 + P2, b = P2, c = 0, d = -P1;
    for (; end - at >= 32; at += 32) {
      a = mixLane(a, read64(at));
      b = mixLane(b, read64(at + 8));
      c = mixLane(c, read64(at + 16));
      d = mixLane(d, read64(at + 24));
    }
    hash = rotate(a, 1) + rotate(b, 7) + rotate(c, 12) + rotate(d, 18);
    for (const uint64_t lane : {a, b, c, d}) hash = (hash ^ mixLane(0, lane)) * P1 + P4;
  }
  hash += length;
  for (; end - at >= 8; at += 8) hash = rotate(hash ^ mixLane(0, read64(at)), 27) * P1 + P4;
  for (; at < end; at++) hash = rotate(hash ^ (*at * P5), 11) * P1;
  hash = (hash ^ (hash >> 33)) * P2;
  hash = (hash ^ (hash >> 29)) * P3;
  return hash ^ (hash >> 32);
}

}  // namespace tessera
