#include "snapshot/snapshot_codec.hpp"

#include <cmath>

namespace tessera {

/// Most bytes of scopes in a snapshot. Protects from absurd lengths.
static constexpr uint64_t MAX_SCOPE_BYTES = uint64_t{16} << 30;

void SnapshotCodec::putShard(SnapshotWriter& out, const std::shared_ptr<Shard>& shard) {
  // A compaction may replace it before the snapshot is written.
  out.keepAlive(shard);
  const uint32_t rows = shard->rows();
  const uint32_t nodes = shard->nodes();
  out.layout.put(rows);
  out.layout.put(nodes);
  out.putColumn(shard->ids_, rows, Rows::IMMUTABLE);
  out.putColumn(shard->textLocations_, rows, Rows::IMMUTABLE);
  out.putColumn(shard->nodeOf_, rows, Rows::IMMUTABLE);
  out.putColumn(shard->next_, rows, Rows::IMMUTABLE);
  out.putTexts(shard->texts_);
  VectorTable& vectors = shard->vectors_;
  out.putColumn(vectors.vectors_, nodes, Rows::SEALED);
  out.putColumn(vectors.inverseNorms_, nodes, Rows::IMMUTABLE);
  out.putColumn(vectors.hashes_, nodes, Rows::IMMUTABLE);
  out.putColumn(shard->heads_, nodes, Rows::MUTABLE);
  const std::shared_ptr<QuantizedIndex> quantized = shard->quantized_.load();
  if (nodes == 0) return;
  // Codes with a new centre may replace it before the snapshot is written.
  out.keepAlive(quantized);
  putQuantized(out, *quantized);
}

void SnapshotCodec::putQuantized(SnapshotWriter& out, QuantizedIndex& quantized) {
  const std::shared_ptr<const Graph> graph = quantized.graph();
  const uint32_t nodes = quantized.encoded();
  out.layout.put(quantized.centreNodes);
  out.layout.put(quantized.calibratedNodes_.load());
  out.layout.put(quantized.effort());
  std::vector<float>& centre = quantized.quantizer.centre();
  out.putBytes(centre.data(), centre.size() * sizeof(float));
  out.putColumn(quantized.codes1Bit, nodes, Rows::SEALED_IN_MEMORY);
  out.putColumn(quantized.refinements, nodes, Rows::SEALED_IN_MEMORY);
  out.layout.put(static_cast<uint8_t>(graph != nullptr));
  if (graph) out.putGraph(graph);
}

void SnapshotCodec::getQuantized(SnapshotReader& in, QuantizedIndex& quantized, uint32_t nodes) {
  quantized.centreNodes = in.layout.get<uint32_t>();
  quantized.calibratedNodes_ = in.layout.get<uint32_t>();
  const auto effort = in.layout.get<SearchEffort>();
  if (!effort.isPlausible()) throw std::runtime_error("the search effort of an index is absurd");
  quantized.effort_.store(std::make_shared<const SearchEffort>(effort));
  std::vector<float>& centre = quantized.quantizer.centre();
  in.getBytes(centre.data(), centre.size() * sizeof(float));
  quantized.quantizer.centreChanged();
  in.getColumn(quantized.codes1Bit, nodes, Rows::SEALED_IN_MEMORY);
  in.getColumn(quantized.refinements, nodes, Rows::SEALED_IN_MEMORY);
  quantized.encoded_ = nodes;
  if (in.layout.get<uint8_t>() != 0) quantized.graph_.store(in.getGraph(nodes));
}

void SnapshotCodec::getShard(SnapshotReader& in, Shard& shard) {
  const auto rows = in.layout.get<uint32_t>();
  const auto nodes = in.layout.get<uint32_t>();
  if (rows > Shard::MAX_ROWS || nodes > rows) throw std::runtime_error("an index is too large");
  if (shard.dimension() == NO_VECTORS && nodes > 0) throw std::runtime_error("an index without vectors has nodes");
  in.requireBytes(uint64_t{rows} * sizeof(ChunkId) +
                  uint64_t{nodes} * shard.dimension() * sizeof(float));
  in.getColumn(shard.ids_, rows, Rows::IMMUTABLE);
  in.getColumn(shard.textLocations_, rows, Rows::IMMUTABLE);
  in.getColumn(shard.nodeOf_, rows, Rows::IMMUTABLE);
  in.getColumn(shard.next_, rows, Rows::IMMUTABLE);
  in.getTexts(shard.texts_);
  in.getColumn(shard.vectors_.vectors_, nodes, Rows::SEALED);
  in.getColumn(shard.vectors_.inverseNorms_, nodes, Rows::IMMUTABLE);
  in.getColumn(shard.vectors_.hashes_, nodes, Rows::IMMUTABLE);
  in.getColumn(shard.heads_, nodes, Rows::MUTABLE);
  shard.rows_.store(rows);
  shard.vectors_.nodes_.store(nodes);
  checkShard(shard);
  for (uint32_t node = 0; node < nodes; node++) shard.vectors_.addToHashTable(node);
  for (uint32_t row = 0; row < rows; row++) shard.versions_.add(shard.text(row), row);
  if (nodes == 0) return;
  auto quantized = std::make_shared<QuantizedIndex>(shard.dimension());
  getQuantized(in, *quantized, nodes);
  shard.quantized_.store(std::move(quantized));
}

/// Checksums prove that the bytes are unchanged. This check proves that every row refers to an existing
/// row, so that even a forged snapshot cannot make a search read out of bounds.
void SnapshotCodec::checkShard(const Shard& shard) {
  const auto require = [](bool valid) {
    if (!valid) throw std::runtime_error("a row of the snapshot leads nowhere");
  };
  for (uint32_t row = 0; row < shard.rows(); row++) {
    const uint32_t node = shard.nodeOf(row);
    require(shard.dimension() == NO_VECTORS ? node == NONE : node < shard.nodes());
    // Chains lead only to older chunks, so they end.
    require(shard.next_.at(row) == NONE || shard.next_.at(row) < row);
    const TextLocation& location = shard.textLocations_.at(row);
    require(location.slab < shard.texts_.slabCount());
    const uint64_t used = shard.texts_.used(location.slab);
    require(location.offset <= used && location.length <= used - location.offset);
  }
  for (uint32_t node = 0; node < shard.nodes(); node++) {
    const uint32_t head = shard.heads_.at(node).load(std::memory_order_relaxed);
    require(head == NONE || head < shard.rows());
    require(std::isfinite(shard.vectors_.inverseNorm(node)));
  }
}

/// The distinct pages of all scopes, each numbered by its first appearance.
class PageTable {
 public:
  uint32_t number(const std::shared_ptr<const Page>& page) {
    if (!page) return NONE;
    const auto [entry, fresh] =
        numbers_.emplace(page.get(), static_cast<uint32_t>(pages.size()));
    if (fresh) pages.push_back(*page);
    return entry->second;
  }
  std::vector<Page> pages;

 private:
  std::unordered_map<const Page*, uint32_t> numbers_;
};

void SnapshotCodec::putProject(SnapshotWriter& out, Project& project) {
  // The scopes are read first, so that the indexes hold every chunk that they name.
  Scopes scopes = project.scopes();
  // Filtered scopes are not stored, because they can be computed again.
  std::erase_if(scopes, [](const auto& entry) { return isFilteredScope(entry.first); });
  putIndexes(out, project);
  putScopes(out, scopes);
}

void SnapshotCodec::putIndexes(SnapshotWriter& out, Project& project) {
  for (size_t slot = 0; slot < INDEX_COUNT; slot++) {
    const auto index = project.index(static_cast<int>(slot));
    const Shards shards = index ? index->shards() : Shards();
    out.layout.put(static_cast<uint32_t>(shards.size()));
    if (shards.empty()) continue;
    out.layout.put(index->hashKey_);
    for (const std::shared_ptr<Shard>& shard : shards) putShard(out, shard);
  }
}

void SnapshotCodec::putScopes(SnapshotWriter& out, const Scopes& scopes) {
  PageTable table;
  ByteWriter body;
  for (const auto& [id, scope] : scopes) {
    body.putString(id);
    for (const ScopeParts& parts : scope->parts) {
      body.put(static_cast<uint32_t>(parts.size()));
      for (const auto& part : parts) {
        body.put(part->shard->number());
        body.put(static_cast<uint32_t>(part->rows.pageCount()));
        for (const auto& page : part->rows.pages()) body.put(table.number(page));
      }
    }
  }
  out.layout.put(static_cast<uint64_t>(table.pages.size()));
  out.putCopy(table.pages.data(), table.pages.size() * sizeof(Page));
  out.layout.put(static_cast<uint64_t>(body.bytes().size()));
  out.layout.put(static_cast<uint32_t>(scopes.size()));
  out.putCopy(body.bytes().data(), body.bytes().size());
}

void SnapshotCodec::getProject(SnapshotReader& in, Project& project) {
  getIndexes(in, project);
  getScopes(in, project);
  if (!in.layout.done()) throw std::runtime_error("the layout is too long");
}

void SnapshotCodec::getIndexes(SnapshotReader& in, Project& project) {
  for (size_t slot = 0; slot < INDEX_COUNT; slot++) {
    const auto count = in.layout.get<uint32_t>();
    if (count > Index::MAX_SHARDS) throw std::runtime_error("an index has too many shards");
    if (count == 0) continue;
    Index& index = *project.openIndex(static_cast<int>(slot));
    index.hashKey_ = in.layout.get<HashKey>();
    for (uint32_t number = 0; number < count; number++) {
      index.shards_.push_back(std::make_shared<Shard>(number, index.dimension()));
      getShard(in, *index.shards_.back());
    }
  }
}

void SnapshotCodec::getScopes(SnapshotReader& in, Project& project) {
  const auto pageCount = in.layout.get<uint64_t>();
  if (pageCount > MAX_SCOPE_BYTES / sizeof(Page)) throw std::runtime_error("too many scope pages");
  in.requireBytes(pageCount * sizeof(Page));
  std::vector<Page> pages(pageCount);
  in.getBytes(pages.data(), pageCount * sizeof(Page));
  const auto bodyLength = in.layout.get<uint64_t>();
  const auto scopeCount = in.layout.get<uint32_t>();
  if (bodyLength > MAX_SCOPE_BYTES) throw std::runtime_error("too many scopes");
  in.requireBytes(bodyLength);
  std::string bytes(bodyLength, '\0');
  in.getBytes(bytes.data(), bodyLength);
  ByteReader body(bytes);
  for (uint32_t i = 0; i < scopeCount; i++) {
    std::string id(body.getString());
    project.scopes_[std::move(id)] = getScope(body, pages, project);
  }
  if (!body.done()) throw std::runtime_error("the list of scopes is too long");
}

std::shared_ptr<const Scope> SnapshotCodec::getScope(ByteReader& in, const std::vector<Page>& pages,
                                                     Project& project) {
  auto scope = std::make_shared<Scope>();
  for (size_t slot = 0; slot < INDEX_COUNT; slot++) {
    const auto parts = in.getCount(2 * sizeof(uint32_t));
    const auto index = project.index(static_cast<int>(slot));
    for (uint32_t i = 0; i < parts; i++) {
      const auto number = in.get<uint32_t>();
      const auto shard = index ? index->shard(number) : nullptr;
      BitmapBuilder rows;
      rows.pages().resize(in.getCount(sizeof(uint32_t)), Page{});
      for (Page& page : rows.pages()) {
        const auto known = in.get<uint32_t>();
        if (known != NONE) page = pages.at(known);
      }
      if (!shard || rows.end() > shard->rows()) throw std::runtime_error("a scope names no chunk");
      scope->parts[slot].push_back(project.freeze(shard, rows));
    }
  }
  return scope;
}

}  // namespace tessera
