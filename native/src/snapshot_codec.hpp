// How the parts of a project are laid out in a snapshot, written and read side by side.
#pragma once
#include <deque>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "files.hpp"
#include "project.hpp"
#include "wire.hpp"

namespace tessera {

/// A run of bytes in one of the files of a snapshot.
struct Part {
  uint64_t file;
  uint64_t offset;
  uint64_t length;
  uint64_t checksum;
};

/// The files that a snapshot is made of; the first one is the state file.
struct SnapshotFiles {
  std::string directory;
  std::vector<std::string> names;
  std::vector<uint64_t> sizes;
};

class SnapshotWriter {
 public:
  explicit SnapshotWriter(const std::string& directory);

  void putBytes(const void* data, uint64_t length);
  /// A slab that won't change any more: kept in a file of its own and mapped from there.
  void putSealed(Slab& slab, uint64_t length);
  /// The rows of a column; `sealable` ones are kept in files of their own, slab by slab.
  void putColumn(Column& column, uint32_t rows, bool sealable);
  void putArena(Arena& arena);

  /// Makes the data files durable; then the manifest may name them.
  void finish();

  WireWriter wire;
  SnapshotFiles files;
  std::vector<std::pair<Slab*, std::string>> adoptable;

 private:
  std::string freshName(const char* kind);
  File createState();

  File state_;
  uint64_t offset_ = 0;
};

class SnapshotReader {
 public:
  SnapshotReader(SnapshotFiles files, std::string_view body);

  void getBytes(void* data, uint64_t length);
  void getColumn(Column& column, uint32_t rows, bool sealable);
  void getArena(Arena& arena);

  WireReader wire;

 private:
  Part takePart(uint64_t length);
  void readPart(const Part& part, Slab& slab);

  SnapshotFiles files_;
  File state_;
};

/// Has the right to reach into the parts of a project.
class SnapshotCodec {
 public:
  static void putProject(SnapshotWriter& out, Project& project);
  static void getProject(SnapshotReader& in, Project& project);

 private:
  static void putIndex(SnapshotWriter& out, Index& index);
  static void getIndex(SnapshotReader& in, Index& index);
  static void putSketch(SnapshotWriter& out, Sketch& sketch);
  static void getSketch(SnapshotReader& in, Sketch& sketch, uint32_t nodes);
  static void checkIndex(const Index& index);
};

}  // namespace tessera
