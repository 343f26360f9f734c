// The distinct vectors of a shard.
#pragma once
#include <atomic>

#include "common/keyed_hash.hpp"
#include "common/prefetch.hpp"
#include "index/node_table.hpp"
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
  /// The hash with which a vector was added.
  uint64_t hash(uint32_t node) const { return hashes_.at(node); }
  /// Reads ahead a vector and its length.
  void prefetchVector(uint32_t node) const {
    prefetch(&inverseNorms_.at(node), sizeof(double));
    prefetch(vectors_.row(node), vectors_.rowBytes());
  }

  /// A hash of the bytes of a vector, by the key of the index.
  static uint64_t hashOf(const float* vector, uint32_t dimension, const HashKey& key);
  /// The node of the vector that is equal bit by bit; NONE for a new vector. Writer only.
  uint32_t find(uint64_t hash, const float* vector) const;
  /// Adds a new vector and returns its node. Writer only.
  uint32_t add(uint64_t hash, const float* vector);

  /// The number of slots of the hash table that are probed to find each vector once. Writer only.
  uint64_t probes() const {
    return byHash_.probes([this](uint32_t node) { return hashes_.at(node); });
  }

  uint64_t vectorBytes() const { return uint64_t{nodes()} * vectors_.rowBytes(); }
  /// Bytes in addition to the vectors.
  uint64_t bookkeepingBytes() const;

 private:
  friend class SnapshotCodec;

  void addToHashTable(uint32_t node) {
    byHash_.add(node, [this](uint32_t known) { return hashes_.at(known); });
  }

  uint32_t dimension_;
  std::atomic<uint32_t> nodes_{0};
  Column vectors_;
  ColumnOf<double> inverseNorms_;
  ColumnOf<uint64_t> hashes_;
  NodeTable byHash_;
};

}  // namespace tessera
