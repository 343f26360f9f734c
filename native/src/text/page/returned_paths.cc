#include "text/page/returned_paths.hpp"

namespace tessera {

static constexpr size_t HASH_CHARS = 11;
static constexpr uint32_t CHAR_BITS = 6;
static constexpr std::string_view ALPHABET =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// FNV-1a in 64 bits.
static uint64_t hashOf(std::string_view path) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : path) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

ReturnedPaths::ReturnedPaths(std::string_view text) {
  for (size_t at = 0; at + HASH_CHARS <= text.size(); at += HASH_CHARS) {
    uint64_t hash = 0;
    for (const char c : text.substr(at, HASH_CHARS)) {
      const size_t digit = ALPHABET.find(c);
      hash = hash << CHAR_BITS | (digit == std::string_view::npos ? 0 : digit);
    }
    hashes_.insert(hash);
  }
}

bool ReturnedPaths::has(std::string_view path) const {
  return !hashes_.empty() && hashes_.contains(hashOf(path));
}

void ReturnedPaths::append(std::string& text, std::string_view path) {
  const uint64_t hash = hashOf(path);
  for (size_t i = HASH_CHARS; i-- > 0;) {
    text += ALPHABET[hash >> (i * CHAR_BITS) & ((1u << CHAR_BITS) - 1)];
  }
}

}  // namespace tessera
