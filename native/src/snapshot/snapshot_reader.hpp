// Reading the bytes of a snapshot.
#pragma once
#include <memory>
#include <vector>

#include "graph/graph.hpp"
#include "snapshot/bytes.hpp"
#include "snapshot/snapshot_files.hpp"
#include "storage/column.hpp"
#include "storage/text_arena.hpp"

namespace tessera {

/// Checks every length and checksum; throws a std::runtime_error when one is wrong.
class SnapshotReader {
 public:
  explicit SnapshotReader(std::vector<SnapshotFile> files);

  /// Throws unless the files can hold this many bytes, before memory is reserved for them.
  void requireBytes(uint64_t length) const;
  void getBytes(void* data, uint64_t length);
  void getColumn(Column& column, uint32_t rows, Rows kind);
  void getTexts(TextArena& texts);
  /// A graph of at most `nodes` nodes.
  std::unique_ptr<const Graph> getGraph(uint32_t nodes);

  ByteReader layout{std::string_view()};

 private:
  Extent takeExtent();
  Extent takeExtent(uint64_t length);
  void readFile(const SnapshotFile& file, Slab& slab, bool mapped);
  void readInto(const Extent& extent, Slab& slab, bool mapped);

  std::vector<SnapshotFile> files_;
  Slab state_;
};

}  // namespace tessera
