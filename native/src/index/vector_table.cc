#include "index/vector_table.hpp"

#include <cmath>
#include <cstring>

#include "kernels/kernels.hpp"

namespace tessera {

VectorTable::VectorTable(uint32_t dimension)
    : dimension_(dimension), vectors_(dimension * sizeof(float)) {}

uint64_t VectorTable::hashOf(const float* vector, uint32_t dimension, const HashKey& key) {
  return keyedHash(vector, dimension * sizeof(float), key);
}

uint32_t VectorTable::find(uint64_t hash, const float* vector) const {
  return byHash_.find(hash, [&](uint32_t node) {
    return hashes_.at(node) == hash &&
           std::memcmp(this->vector(node), vector, dimension_ * sizeof(float)) == 0;
  });
}

uint32_t VectorTable::add(uint64_t hash, const float* vector) {
  const size_t bytes = dimension_ * sizeof(float);
  const uint32_t node = nodes_.load(std::memory_order_relaxed);
  vectors_.ensure(node + 1);
  inverseNorms_.ensure(node + 1);
  hashes_.ensure(node + 1);
  std::memcpy(vectors_.row(node), vector, bytes);
  inverseNorms_.at(node) = 1 / std::sqrt(kernels().dot(vector, vector, dimension_));
  hashes_.at(node) = hash;
  addToHashTable(node);
  nodes_.store(node + 1, std::memory_order_release);
  return node;
}

uint64_t VectorTable::bookkeepingBytes() const {
  return nodes() * (inverseNorms_.rowBytes() + hashes_.rowBytes()) + byHash_.bytes();
}

}  // namespace tessera
