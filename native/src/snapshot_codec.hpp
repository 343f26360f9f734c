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

/// What becomes of the rows of a column once they are there.
enum class Rows {
  /// They stay as they are.
  FINAL,
  /// They stay, and are many: full slabs are kept in files of their own.
  SEALABLE,
  /// They may change.
  CHANGING,
};

/// Notes what a snapshot is to hold, which is quick, and writes it later. Meanwhile the project may
/// grow: rows never move, and most never change.
class SnapshotWriter {
 public:
  explicit SnapshotWriter(const std::string& directory);

  /// Notes bytes that stay where and what they are until `finish` returns.
  void putBytes(const void* data, uint64_t length);
  /// Copies bytes.
  void putCopy(const void* data, uint64_t length);
  /// A slab that won't change any more: kept in a file of its own and mapped from there.
  void putSealed(Slab& slab, uint64_t length);
  void putColumn(Column& column, uint32_t rows, Rows kind);
  void putArena(Arena& arena);
  /// Keeps something alive that noted bytes are a part of.
  void keep(std::shared_ptr<const void> owner) { kept_.push_back(std::move(owner)); }

  /// Writes everything and makes it durable; then the manifest may name the files.
  void finish();

  WireWriter wire;
  SnapshotFiles files;
  std::vector<std::pair<Slab*, std::string>> adoptable;

 private:
  /// Something to be written, and the place of its `Part` in `wire`.
  struct Task {
    const void* data;
    uint64_t length;
    size_t place;
    /// The slab, if the bytes are a sealed one.
    Slab* sealed;
  };

  std::string freshName(const char* kind);
  File createState();
  void note(const void* data, uint64_t length, Slab* sealed);
  Part writeBytes(const void* data, uint64_t length);
  Part writeSealed(Slab& slab, uint64_t length);

  File state_;
  uint64_t offset_ = 0;
  std::vector<Task> tasks_;
  std::deque<std::string> copies_;
  std::vector<std::shared_ptr<const void>> kept_;
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
