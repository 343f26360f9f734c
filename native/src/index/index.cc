#include "index/index.hpp"

#include <atomic>
#include <stdexcept>

namespace tessera {

/// One graph of 500,000 nodes takes two thirds of the estimates of two graphs of half as many, at about
/// the same recall. Larger shards would make copies and compactions long.
static constexpr uint32_t DEFAULT_SHARD_NODES = 1u << 19;

static std::atomic<uint32_t> nodesPerShard{DEFAULT_SHARD_NODES};

uint32_t Index::shardNodes() { return nodesPerShard; }
void Index::setShardNodes(uint32_t nodes) { nodesPerShard = nodes; }

Shards Index::shards() const {
  std::shared_lock lock(mutex_);
  return shards_;
}

std::shared_ptr<Shard> Index::shard(uint32_t number) const {
  std::shared_lock lock(mutex_);
  return number < shards_.size() ? shards_[number] : nullptr;
}

void Index::replace(std::shared_ptr<Shard> shard) {
  std::unique_lock lock(mutex_);
  shards_.at(shard->number()).swap(shard);
  lock.unlock();
  // The old shard is destroyed outside the lock, because freeing much memory takes long.
}

Shard& Index::openShard() {
  for (const std::shared_ptr<Shard>& shard : shards_) {
    const uint32_t nodes = dimension_ == NO_VECTORS ? shard->rows() : shard->nodes();
    if (nodes < shardNodes() && shard->rows() < Shard::MAX_ROWS) return *shard;
  }
  if (shards_.size() == MAX_SHARDS) throw std::length_error("the index is full");
  const auto number = static_cast<uint32_t>(shards_.size());
  auto shard = std::make_shared<Shard>(number, dimension_);
  std::unique_lock lock(mutex_);
  shards_.push_back(std::move(shard));
  return *shards_.back();
}

/// A chunk goes to the shard that has its vector, so that equal vectors are stored once.
uint32_t Index::append(const Chunk& chunk) {
  if (chunk.vector == nullptr) {
    Shard& open = openShard();
    return open.ordinalOf(open.append(chunk, 0, NONE));
  }
  const uint64_t hash = VectorTable::hashOf(chunk.vector, dimension_, hashKey_);
  for (const std::shared_ptr<Shard>& shard : shards_) {
    if (shard->rows() == Shard::MAX_ROWS) continue;
    const uint32_t node = shard->vectors().find(hash, chunk.vector);
    if (node != NONE) return shard->ordinalOf(shard->append(chunk, hash, node));
  }
  Shard& open = openShard();
  return open.ordinalOf(open.append(chunk, hash, NONE));
}

std::vector<uint32_t> Index::append(const Batch& batch) {
  std::vector<uint32_t> ordinals(batch.count);
  uint32_t begin = 0;
  for (uint32_t i = 0; i < batch.count; i++) {
    const std::string_view text = batch.texts.substr(begin, batch.ends[i] - begin);
    const float* vector = dimension_ == NO_VECTORS ? nullptr : batch.vectors + size_t{i} * dimension_;
    ordinals[i] = append(Chunk{batch.ids[i], vector, text});
    begin = batch.ends[i];
  }
  for (const std::shared_ptr<Shard>& shard : shards_) shard->quantize();
  return ordinals;
}

}  // namespace tessera
