#include "index/version_rows.hpp"

#include <algorithm>

#include "common/chunk_text.hpp"

namespace tessera {

static constexpr size_t SLOTS_MIN = 16;
static constexpr size_t UUID_CHARS = 36;
static constexpr size_t HALF_DIGITS = 16;

VersionKey VersionKey::of(std::string_view versionId) {
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
  const uint64_t hash = keyedHash(versionId.data(), versionId.size());
  return {hash, ~hash};
}

void VersionRows::add(std::string_view chunkText, uint32_t row) {
  ChunkText chunk;
  if (!readChunkText(chunkText, chunk)) return;
  const VersionKey key = VersionKey::of(chunk.versionId);
  std::unique_lock lock(mutex_);
  if (spans_ > 0 && slots_[last_].key == key && slots_[last_].first + slots_[last_].count == row) {
    slots_[last_].count++;
    return;
  }
  // At most half of the slots are taken, so that those of a key are found after few others.
  if (2 * (spans_ + 1) > slots_.size()) grow();
  last_ = insert({key, row, 1});
  spans_++;
}

size_t VersionRows::insert(const Span& span) {
  size_t at = startOf(span.key);
  while (slots_[at].count > 0) at = (at + 1) & (slots_.size() - 1);
  slots_[at] = span;
  return at;
}

void VersionRows::grow() {
  std::vector<Span> before(std::max(SLOTS_MIN, 2 * slots_.size()));
  before.swap(slots_);
  for (const Span& span : before) {
    if (span.count > 0) insert(span);
  }
}

uint64_t VersionRows::bytes() const {
  std::shared_lock lock(mutex_);
  return slots_.size() * sizeof(Span);
}

}  // namespace tessera
