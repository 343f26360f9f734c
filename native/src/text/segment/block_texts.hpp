// The texts of documents, which segments hold compressed.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "common/recently_used.hpp"
#include "text/segment/text_segment.hpp"

struct ZSTD_DCtx_s;

namespace tessera {

/// Uncompresses text blocks, and caches the most recently used. It belongs to one thread.
class BlockTexts {
 public:
  BlockTexts();
  ~BlockTexts();
  BlockTexts(const BlockTexts&) = delete;
  BlockTexts& operator=(const BlockTexts&) = delete;

  /// The text of a block. The reference is valid for the next `KEPT - 1` calls. Throws std::runtime_error if the
  /// block is damaged.
  const std::u16string& of(const TextSegment& segment, uint32_t block);

 private:
  /// The memory of a segment can be reused for another segment, which has another identity.
  struct Key {
    const uint8_t* bytes;
    uint64_t segment;

    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const {
      return reinterpret_cast<uintptr_t>(key.bytes) * 31 + key.segment;
    }
  };

  /// Cached blocks.
  static constexpr size_t KEPT = 2'048;

  void uncompress(std::span<const uint8_t> bytes, std::u16string& text);

  ZSTD_DCtx_s* const context_;
  std::string buffer_;
  RecentlyUsed<Key, std::u16string, KeyHash> kept_{KEPT};
};

}  // namespace tessera
