#include "index/version_rows.hpp"

#include "common/chunk_text.hpp"

namespace tessera {

/// An entry of the hash table, its pointer, and that of its bucket.
static constexpr uint64_t SPAN_BYTES = 48;

void VersionRows::add(std::string_view chunkText, uint32_t row) {
  ChunkText chunk;
  if (!readChunkText(chunkText, chunk)) return;
  const uint64_t hash = hashOf(chunk.versionId);
  std::unique_lock lock(mutex_);
  const bool continues = last_ != nullptr && last_->first == hash &&
                         last_->second.first + last_->second.count == row;
  if (continues) {
    last_->second.count++;
  } else {
    last_ = &*spans_.emplace(hash, Span{row, 1});
  }
}

uint64_t VersionRows::bytes() const {
  std::shared_lock lock(mutex_);
  return spans_.size() * SPAN_BYTES;
}

}  // namespace tessera
