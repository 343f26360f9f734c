// Projects, their scopes, and the registry of the process.
#pragma once
#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "project/bitmap.hpp"
#include "index/index.hpp"

namespace tessera {

/// The members of a scope in one index: chunks, and the nodes of these chunks.
struct ScopePart {
  std::shared_ptr<const Index> index;
  Bitmap ordinals;
  Bitmap nodes;
};

/// An environment or a release. Immutable; replaced as a whole.
struct Scope {
  std::array<std::unique_ptr<ScopePart>, DIMENSION_COUNT> parts;
};

/// Members of one dimension as (start, count) pairs.
struct ScopeRanges {
  uint32_t dimension;
  std::vector<uint32_t> pairs;
};

class Project {
 public:
  explicit Project(std::string id) : id_(std::move(id)) {}

  const std::string& id() const { return id_; }
  std::shared_ptr<Index> index(int slot) const;
  std::shared_ptr<Index> openIndex(int slot);
  std::shared_ptr<const Scope> scope(const std::string& id) const;
  void setScope(const std::string& id, const std::vector<ScopeRanges>& ranges);
  void dropScope(const std::string& id);
  std::map<std::string, std::shared_ptr<const Scope>> scopes() const;
  uint64_t scopeBytes();

  /// Held to append, to extend the graph, and to list the contents of a snapshot.
  std::mutex& writer() { return writer_; }
  /// Held to write a snapshot. Taken before `writer`.
  std::mutex& snapshotting() { return snapshotting_; }

 private:
  friend class SnapshotCodec;

  std::unique_ptr<ScopePart> freeze(std::shared_ptr<const Index> index, BitmapBuilder& ordinals);

  const std::string id_;
  std::mutex writer_;
  std::mutex snapshotting_;
  mutable std::shared_mutex view_;
  std::array<std::shared_ptr<Index>, DIMENSION_COUNT> indexes_;
  std::unordered_map<std::string, std::shared_ptr<const Scope>> scopes_;
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
  std::unordered_map<std::string, std::shared_ptr<Project>> projects_;
};

}  // namespace tessera
