// Writing the bytes of a snapshot.
#pragma once
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "snapshot/bytes.hpp"
#include "snapshot/snapshot_files.hpp"
#include "storage/column.hpp"
#include "storage/file.hpp"
#include "storage/text_arena.hpp"

namespace tessera {

/// First lists the contents of a snapshot, which is quick, and writes them later. Meanwhile the project may
/// grow, because rows never move and most never change.
class SnapshotWriter {
 public:
  explicit SnapshotWriter(const std::string& directory);

  /// Adds bytes that neither move nor change until `finish` returns.
  void putBytes(const void* data, uint64_t length);
  /// Adds a copy of bytes.
  void putCopy(const void* data, uint64_t length);
  /// Adds a slab that will not change. It gets a file of its own, which the slab is mapped from if
  /// `mapped`.
  void putSealed(Slab& slab, uint64_t length, bool mapped);
  /// Adds a graph, in a file of its own.
  void putGraph(std::shared_ptr<const Graph> graph);
  void putColumn(Column& column, uint32_t rows, Rows kind);
  void putTexts(TextArena& texts);
  /// Keeps the owner of added bytes alive until the writer is destroyed.
  void keepAlive(std::shared_ptr<const void> owner) { owners_.push_back(std::move(owner)); }

  /// Writes everything and makes it durable. After that a manifest may name the files.
  void finish();

  ByteWriter layout;
  /// The first has the state: the layout, which describes the project, and the bytes without a file of their own.
  std::vector<SnapshotFile> files;
  /// Slabs that can be mapped from their files once these are written.
  std::vector<Slab*> mappable;

 private:
  /// Bytes to be written, and the position of their `Extent` in the layout.
  struct Task {
    std::function<Extent()> write;
    size_t position;
  };

  void addTask(std::function<Extent()> write);
  Extent writeBytes(const void* data, uint64_t length);
  Extent writeSealed(Slab& slab, uint64_t length, bool mapped);
  Extent writeGraph(const Graph& graph);
  /// True when an earlier snapshot in this directory wrote the file.
  bool isWritten(const SnapshotFile& file) const;
  SnapshotFile writeFile(const char* kind, const void* data, uint64_t length) const;
  /// Adds a file to the snapshot.
  Extent addFile(const SnapshotFile& file);

  const std::string& directory() const { return files[0].directory; }

  File state_;
  uint64_t offset_ = 0;
  std::vector<Task> tasks_;
  std::deque<std::string> copies_;
  std::vector<std::shared_ptr<const void>> owners_;
};

}  // namespace tessera
