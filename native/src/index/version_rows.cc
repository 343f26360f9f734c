#include "index/version_rows.hpp"

#include <algorithm>

#include "common/chunk_text.hpp"

namespace tessera {

static constexpr size_t SLOTS_MIN = 16;

void VersionRows::add(std::string_view chunkText, uint32_t row) {
  ChunkText chunk;
  if (!readChunkText(chunkText, chunk)) return;
  const VersionKey key = VersionKey::of(chunk.versionId);
  std::unique_lock lock(mutex_);
  if (spans_ > 0 && slots_[last_].key == key && slots_[last_].first + slots_[last_].count == row) {
    slots_[last_].count++;
    return;
  }
  // At most half of the slots are in use, so that a lookup probes few slots.
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
