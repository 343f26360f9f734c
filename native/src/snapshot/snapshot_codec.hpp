// The layout of a project in a snapshot.
#pragma once
#include "project/project.hpp"
#include "snapshot/snapshot_reader.hpp"
#include "snapshot/snapshot_writer.hpp"

namespace tessera {

/// Reads and writes a project. A friend of the classes whose rows it stores.
class SnapshotCodec {
 public:
  static void putProject(SnapshotWriter& out, Project& project);
  static void getProject(SnapshotReader& in, Project& project);

 private:
  static void putIndex(SnapshotWriter& out, Index& index);
  static void getIndex(SnapshotReader& in, Index& index);
  static void putQuantized(SnapshotWriter& out, QuantizedIndex& quantized);
  static void getQuantized(SnapshotReader& in, QuantizedIndex& quantized, uint32_t nodes);
  static void putScopes(SnapshotWriter& out,
                        const std::map<std::string, std::shared_ptr<const Scope>>& scopes);
  static void getScopes(SnapshotReader& in, Project& project);
  static void checkIndex(const Index& index);
};

}  // namespace tessera
