#include "index/version_rows.hpp"

#include <functional>

#include "common/chunk_text.hpp"

namespace tessera {

/// An entry of the hash table, its pointer, and that of its bucket.
static constexpr uint64_t SPAN_BYTES = 56;
static constexpr size_t UUID_CHARS = 36;
static constexpr size_t HALF_DIGITS = 16;

VersionRows::Key VersionRows::keyOf(std::string_view versionId) {
  uint64_t halves[2] = {0, 0};
  size_t digits = 0;
  for (const char c : versionId) {
    if (c == '-') continue;
    const bool isDecimal = c >= '0' && c <= '9';
    const auto lower = static_cast<char>(c | 0x20);
    if (!isDecimal && (lower < 'a' || lower > 'f')) break;
    const auto value = static_cast<uint64_t>(isDecimal ? c - '0' : lower - 'a' + 10);
    if (digits < 2 * HALF_DIGITS) {
      uint64_t& half = halves[digits / HALF_DIGITS];
      half = half << 4 | value;
    }
    digits++;
  }
  if (versionId.size() == UUID_CHARS && digits == 2 * HALF_DIGITS) return {halves[0], halves[1]};
  const uint64_t hash = std::hash<std::string_view>()(versionId);
  return {hash, ~hash};
}

void VersionRows::add(std::string_view chunkText, uint32_t row) {
  ChunkText chunk;
  if (!readChunkText(chunkText, chunk)) return;
  const Key key = keyOf(chunk.versionId);
  std::unique_lock lock(mutex_);
  const bool continues = last_ != nullptr && last_->first == key &&
                         last_->second.first + last_->second.count == row;
  if (continues) {
    last_->second.count++;
  } else {
    last_ = &*spans_.emplace(key, Span{row, 1});
  }
}

uint64_t VersionRows::bytes() const {
  std::shared_lock lock(mutex_);
  return spans_.size() * SPAN_BYTES;
}

}  // namespace tessera
