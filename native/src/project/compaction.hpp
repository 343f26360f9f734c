// Frees the memory of deleted chunks: a shard is replaced by a shard with only its live chunks.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "project/project.hpp"

namespace tessera {

/// Rows of a shard, as (first, count) pairs, ascending.
using RowRanges = std::vector<uint32_t>;

/// A background thread prepares a compaction while the project is searched and changed. The writer commits it.
class Compaction {
 public:
  /// Copies the live rows among the first `rows` rows of a shard into a new shard with a graph. Rows of any scope and
  /// of `kept` are live. Returns null if the shard has little to free, or the project is closed. Not for the writer,
  /// because it may take minutes.
  static std::unique_ptr<Compaction> prepare(const std::shared_ptr<Project>& project, int slot,
                                             const std::shared_ptr<Shard>& shard,
                                             uint32_t rows, const RowRanges& kept, unsigned threads);

  /// Replaces the shard and the scopes that name it. Keeps rows that were appended meanwhile. Returns the old rows
  /// that remain: row i of the new shard is the i-th of them. Returns std::nullopt and changes nothing if a scope has
  /// meanwhile received a dropped row. Writer only.
  std::optional<RowRanges> commit(Project& project);

  uint32_t shardNumber() const { return old_->number(); }
  uint32_t dimension() const { return old_->dimension(); }

 private:
  Compaction(int slot, std::shared_ptr<Shard> old);

  void copyRows(const BitmapBuilder& live);
  void copyRow(uint32_t row);
  /// The same part of a scope in the new shard; null if it contains a dropped row.
  std::shared_ptr<const ScopePart> translate(Project& project, const ScopePart& part) const;
  /// The same scope with the new shard; null likewise.
  std::shared_ptr<const Scope> translate(Project& project,
                                         const std::shared_ptr<const Scope>& scope);
  bool names(const Scope& scope) const;

  const int slot_;
  const std::shared_ptr<Shard> old_;
  const std::shared_ptr<Shard> next_;
  /// The new row of each old one; NONE for a dropped one.
  std::vector<uint32_t> newRows_;
  /// Scopes that were translated in advance, each with its translation.
  std::map<std::shared_ptr<const Scope>, std::shared_ptr<const Scope>> translated_;
};

}  // namespace tessera
