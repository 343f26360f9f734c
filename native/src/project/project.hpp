// Projects, their scopes, and the registry of the process.
#pragma once
#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/keyed_hash.hpp"
#include "project/bitmap.hpp"
#include "index/index.hpp"

namespace tessera {

/// The members of a scope in one shard: chunks, and the nodes of these chunks.
struct ScopePart {
  std::shared_ptr<const Shard> shard;
  Bitmap rows;
  Bitmap nodes;
};

using ScopeParts = std::vector<std::shared_ptr<const ScopePart>>;

/// An environment or a release, or a filtered part of one: its parts by index. Immutable; replaced as a whole.
struct Scope {
  std::array<ScopeParts, INDEX_COUNT> parts;
};

/// Whether a scope is the part of another that a filter matches.
inline bool isFilteredScope(std::string_view id) { return id.find('#') != std::string_view::npos; }

using Scopes = std::map<std::string, std::shared_ptr<const Scope>>;

/// Members of one dimension as (first ordinal, count) pairs.
struct ScopeRanges {
  uint32_t dimension;
  std::vector<uint32_t> pairs;
};

class Compaction;

class Project {
 public:
  explicit Project(std::string id);
  ~Project();

  const std::string& id() const { return id_; }
  std::shared_ptr<Index> index(int slot) const;
  std::shared_ptr<Index> openIndex(int slot);
  std::shared_ptr<const Scope> scope(const std::string& id) const;
  void setScope(const std::string& id, const std::vector<ScopeRanges>& ranges);
  void dropScope(const std::string& id);
  Scopes scopes() const;
  /// Replaces a shard, and with it the scopes that name it.
  void replaceShard(int slot, std::shared_ptr<Shard> shard, const Scopes& scopes);
  /// The part of a scope with these rows.
  std::shared_ptr<const ScopePart> freeze(std::shared_ptr<const Shard> shard, BitmapBuilder& rows);
  uint64_t scopeBytes();

  /// Held to append, to replace shards, and to list the contents of a snapshot.
  std::mutex& writer() { return writer_; }
  /// Held to write a snapshot. Taken before `writer`.
  std::mutex& snapshotting() { return snapshotting_; }

  /// Ends the maintenance in progress, because the project is being dropped.
  void close() { closed_ = true; }
  const std::atomic<bool>& closed() const { return closed_; }
  /// A compaction that waits to be committed. One thread at a time.
  std::unique_ptr<Compaction> prepared;

 private:
  friend class SnapshotCodec;

  const std::string id_;
  std::atomic<bool> closed_{false};
  std::mutex writer_;
  std::mutex snapshotting_;
  mutable std::shared_mutex view_;
  std::array<std::shared_ptr<Index>, INDEX_COUNT> indexes_;
  std::unordered_map<std::string, std::shared_ptr<const Scope>, KeyedHash> scopes_;
  PagePool pages_;
};

/// The projects of the process, shared by all its threads.
class Registry {
 public:
  static Registry& instance();
  std::shared_ptr<Project> open(const std::string& id);
  std::shared_ptr<Project> find(const std::string& id) const;
  void replace(std::shared_ptr<Project> project);
  void drop(const std::string& id);
  std::vector<std::string> names() const;

 private:
  mutable std::shared_mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<Project>, KeyedHash> projects_;
};

}  // namespace tessera
