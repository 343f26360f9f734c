// Writing the bytes of a snapshot.
#pragma once
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "snapshot/bytes.hpp"
#include "snapshot/snapshot_files.hpp"
#include "storage/column.hpp"
#include "storage/file.hpp"
#include "storage/text_arena.hpp"

namespace tessera {

/// Whether the rows of a column change after they were written.
enum class Rows {
  IMMUTABLE,
  /// Immutable and large: full slabs get files of their own.
  SEALABLE,
  MUTABLE,
};

/// First lists what a snapshot holds, which is quick, and writes it later. Meanwhile the project
/// may grow, because rows never move and most never change.
class SnapshotWriter {
 public:
  explicit SnapshotWriter(const std::string& directory);

  /// Adds bytes that neither move nor change until `finish` returns.
  void putBytes(const void* data, uint64_t length);
  /// Adds a copy of bytes.
  void putCopy(const void* data, uint64_t length);
  /// Adds a slab that will not change. It gets a file of its own, which the slab can be mapped
  /// from.
  void putSealed(Slab& slab, uint64_t length);
  void putColumn(Column& column, uint32_t rows, Rows kind);
  void putTexts(TextArena& texts);
  /// Keeps the owner of added bytes alive until the writer is destroyed.
  void keepAlive(std::shared_ptr<const void> owner) { owners_.push_back(std::move(owner)); }

  /// Writes everything and makes it durable. After that a manifest may name the files.
  void finish();

  /// The part of the manifest that describes the project.
  ByteWriter manifest;
  SnapshotFiles files;
  /// Slabs that can be mapped from their files once the snapshot is complete.
  std::vector<std::pair<Slab*, std::string>> mappable;

 private:
  /// Bytes to be written, and the position of their `Extent` in the manifest.
  struct Task {
    const void* data;
    uint64_t length;
    size_t position;
    /// The slab, if it gets a file of its own; otherwise null.
    Slab* sealed;
  };

  std::string newName(const char* kind);
  File createState();
  void addTask(const void* data, uint64_t length, Slab* sealed);
  Extent writeBytes(const void* data, uint64_t length);
  Extent writeSealed(Slab& slab, uint64_t length);

  File state_;
  uint64_t offset_ = 0;
  std::vector<Task> tasks_;
  std::deque<std::string> copies_;
  std::vector<std::shared_ptr<const void>> owners_;
};

}  // namespace tessera
