// The distinct vectors of an index.
#pragma once
#include <atomic>
#include <unordered_map>

#include "storage/column.hpp"

namespace tessera {

/// Stores each distinct vector once, as a *node*. Nodes are numbered in order of arrival. One
/// writer adds while any number of threads read.
class VectorTable {
 public:
  explicit VectorTable(uint32_t dimension);

  uint32_t dimension() const { return dimension_; }
  uint32_t nodes() const { return nodes_.load(std::memory_order_acquire); }

  const float* vector(uint32_t node) const {
    return reinterpret_cast<const float*>(vectors_.row(node));
  }
  /// One over the length of the vector.
  double inverseNorm(uint32_t node) const { return inverseNorms_.at(node); }

  /// Returns the node of a vector, added unless an equal one (bit by bit) is there. Writer only.
  uint32_t findOrAdd(const float* vector);

  uint64_t vectorBytes() const { return uint64_t{nodes()} * vectors_.rowBytes(); }
  /// Bytes per node besides the vector.
  size_t bookkeepingRowBytes() const;

 private:
  friend class SnapshotCodec;

  void addToHashTable(uint32_t node) { byHash_.emplace(hashes_.at(node), node); }

  uint32_t dimension_;
  std::atomic<uint32_t> nodes_{0};
  Column vectors_;
  ColumnOf<double> inverseNorms_;
  ColumnOf<uint64_t> hashes_;
  std::unordered_multimap<uint64_t, uint32_t> byHash_;
};

}  // namespace tessera
