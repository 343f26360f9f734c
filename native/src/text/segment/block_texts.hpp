// The texts of documents, which segments hold compressed.
#pragma once
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>

#include "text/segment/text_segment.hpp"

struct ZSTD_DCtx_s;

namespace tessera {

/// Uncompresses text blocks, and keeps those that were used recently. It belongs to one thread.
class BlockTexts {
 public:
  BlockTexts();
  ~BlockTexts();
  BlockTexts(const BlockTexts&) = delete;
  BlockTexts& operator=(const BlockTexts&) = delete;

  /// The text of a block. It stays where it is for the next `CACHED - 1` calls. Throws
  /// std::runtime_error when the block is damaged.
  const std::u16string& of(const TextSegment& segment, uint32_t block);

 private:
  /// Memory can be used again for another segment, which has another checksum.
  struct Key {
    const uint8_t* bytes;
    uint32_t checksum;

    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const {
      return reinterpret_cast<uintptr_t>(key.bytes) * 31 + key.checksum;
    }
  };
  struct Entry {
    Key key;
    std::u16string text;
  };

  void uncompress(std::span<const uint8_t> bytes, std::u16string& text);

  ZSTD_DCtx_s* const context_;
  std::string buffer_;
  /// The most recently used first.
  std::list<Entry> entries_;
  std::unordered_map<Key, std::list<Entry>::iterator, KeyHash> known_;
};

}  // namespace tessera
