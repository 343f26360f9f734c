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
  static void putShard(SnapshotWriter& out, const std::shared_ptr<Shard>& shard);
  static void getShard(SnapshotReader& in, Shard& shard);
  static void putQuantized(SnapshotWriter& out, QuantizedIndex& quantized);
  static void getQuantized(SnapshotReader& in, QuantizedIndex& quantized, uint32_t nodes);
  static void putIndexes(SnapshotWriter& out, Project& project);
  static void getIndexes(SnapshotReader& in, Project& project);
  static void putScopes(SnapshotWriter& out, const Scopes& scopes);
  static void getScopes(SnapshotReader& in, Project& project);
  static std::shared_ptr<const Scope> getScope(ByteReader& in, const std::vector<Page>& pages,
                                               Project& project);
  static void checkShard(const Shard& shard);
};

}  // namespace tessera
