// Freeing the memory of deleted chunks: a shard is replaced by one that has only its live chunks.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "project/project.hpp"

namespace tessera {

/// Rows of a shard, as (first, count) pairs, ascending.
using RowRanges = std::vector<uint32_t>;

/// Prepared aside, while the project is searched and changed, and then committed by the writer.
class Compaction {
 public:
  /// Copies the live ones of the first `rows` rows of a shard, which are those of all scopes and of
  /// `kept`, into a new one with a graph. Returns null when the shard has little to free, or the project is closed. Not for
  /// the writer: it may take minutes.
  static std::unique_ptr<Compaction> prepare(const std::shared_ptr<Project>& project, int slot,
                                             const std::shared_ptr<Shard>& shard,
                                             uint32_t rows, const RowRanges& kept, unsigned threads);

  /// Replaces the shard and the scopes that name it. Rows that were appended since then are kept.
  /// Returns the old rows that remain; row i of the new shard is the i-th of them. Returns
  /// nothing, and changes nothing, when a scope has meanwhile been given a row that was dropped. Writer
  /// only.
  std::optional<RowRanges> commit(Project& project);

  uint32_t shardNumber() const { return old_->number(); }
  uint32_t dimension() const { return old_->dimension(); }

 private:
  Compaction(int slot, std::shared_ptr<Shard> old);

  void copyRows(const BitmapBuilder& live);
  void copyRow(uint32_t row);
  /// The same part of a scope in the new shard; null when a row of it was dropped.
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
