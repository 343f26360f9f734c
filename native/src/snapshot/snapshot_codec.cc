#include "snapshot/snapshot_codec.hpp"

#include <cmath>

namespace tessera {

void SnapshotCodec::putIndex(SnapshotWriter& out, Index& index) {
  const uint32_t ordinals = index.ordinals();
  const uint32_t nodes = index.nodes();
  out.manifest.put(index.dimension());
  out.manifest.put(ordinals);
  out.manifest.put(nodes);
  out.putColumn(index.ids_, ordinals, Rows::IMMUTABLE);
  out.putColumn(index.textLocations_, ordinals, Rows::IMMUTABLE);
  out.putColumn(index.nodeOf_, ordinals, Rows::IMMUTABLE);
  out.putColumn(index.next_, ordinals, Rows::IMMUTABLE);
  out.putTexts(index.texts_);
  out.putColumn(index.vectors_.vectors_, nodes, Rows::SEALABLE);
  out.putColumn(index.vectors_.inverseNorms_, nodes, Rows::IMMUTABLE);
  out.putColumn(index.vectors_.hashes_, nodes, Rows::IMMUTABLE);
  out.putColumn(index.heads_, nodes, Rows::MUTABLE);
  const std::shared_ptr<QuantizedIndex> quantized = index.quantized_.load();
  out.manifest.put(static_cast<uint8_t>(quantized != nullptr));
  if (!quantized) return;
  putQuantized(out, *quantized);
  // An index with a new centre may replace it before the snapshot is written.
  out.keepAlive(quantized);
}

void SnapshotCodec::putQuantized(SnapshotWriter& out, QuantizedIndex& quantized) {
  out.manifest.put(quantized.encoded);
  out.manifest.put(quantized.centreNodes);
  out.manifest.put(quantized.calibratedNodes);
  out.manifest.put(quantized.effort());
  std::vector<float>& centre = quantized.quantizer.centre();
  out.putBytes(centre.data(), centre.size() * sizeof(float));
  out.putColumn(quantized.codes1Bit, quantized.encoded, Rows::IMMUTABLE);
  out.putColumn(quantized.codes4Bit, quantized.encoded, Rows::IMMUTABLE);
  Graph& graph = quantized.graph;
  out.manifest.put(graph.size());
  out.manifest.put(graph.upperRows_);
  out.manifest.put(graph.entry_.load());
  out.putColumn(graph.layer0_, graph.size(), Rows::MUTABLE);
  out.putColumn(graph.upperStart_, graph.size(), Rows::IMMUTABLE);
  out.putColumn(graph.upperLayers_, graph.upperRows_, Rows::MUTABLE);
}

void SnapshotCodec::getQuantized(SnapshotReader& in, QuantizedIndex& quantized, uint32_t nodes) {
  quantized.encoded = in.manifest.get<uint32_t>();
  quantized.centreNodes = in.manifest.get<uint32_t>();
  quantized.calibratedNodes = in.manifest.get<uint32_t>();
  quantized.setEffort(in.manifest.get<SearchEffort>());
  std::vector<float>& centre = quantized.quantizer.centre();
  in.getBytes(centre.data(), centre.size() * sizeof(float));
  quantized.quantizer.centreChanged();
  if (quantized.encoded != nodes) throw std::runtime_error("an index has vectors without codes");
  in.getColumn(quantized.codes1Bit, nodes, false);
  in.getColumn(quantized.codes4Bit, nodes, false);
  Graph& graph = quantized.graph;
  const auto size = in.manifest.get<uint32_t>();
  graph.upperRows_ = in.manifest.get<uint32_t>();
  graph.entry_ = in.manifest.get<uint64_t>();
  if (size > nodes || graph.upperRows_ > MAX_ROWS) {
    throw std::runtime_error("the graph of an index is too large");
  }
  in.getColumn(graph.layer0_, size, false);
  in.getColumn(graph.upperStart_, size, false);
  in.getColumn(graph.upperLayers_, graph.upperRows_, false);
  graph.size_ = size;
  graph.check();
}

void SnapshotCodec::getIndex(SnapshotReader& in, Index& index) {
  const auto ordinals = in.manifest.get<uint32_t>();
  const auto nodes = in.manifest.get<uint32_t>();
  if (ordinals > MAX_ROWS || nodes > MAX_ROWS) throw std::runtime_error("an index is too large");
  in.getColumn(index.ids_, ordinals, false);
  in.getColumn(index.textLocations_, ordinals, false);
  in.getColumn(index.nodeOf_, ordinals, false);
  in.getColumn(index.next_, ordinals, false);
  in.getTexts(index.texts_);
  in.getColumn(index.vectors_.vectors_, nodes, true);
  in.getColumn(index.vectors_.inverseNorms_, nodes, false);
  in.getColumn(index.vectors_.hashes_, nodes, false);
  in.getColumn(index.heads_, nodes, false);
  index.ordinals_.store(ordinals);
  index.vectors_.nodes_.store(nodes);
  checkIndex(index);
  if (in.manifest.get<uint8_t>() != 0) {
    auto quantized = std::make_shared<QuantizedIndex>(index.dimension());
    getQuantized(in, *quantized, nodes);
    index.quantized_.store(std::move(quantized));
  } else if (nodes > 0) {
    throw std::runtime_error("an index has vectors without codes");
  }
  for (uint32_t node = 0; node < nodes; node++) index.vectors_.addToHashTable(node);
}

/// Checksums prove that the bytes are those that were written. This proves that every row leads to
/// a row that exists, so that not even a forged snapshot makes a search read out of bounds.
void SnapshotCodec::checkIndex(const Index& index) {
  const auto require = [](bool valid) {
    if (!valid) throw std::runtime_error("a row of the snapshot leads nowhere");
  };
  for (uint32_t ordinal = 0; ordinal < index.ordinals(); ordinal++) {
    require(index.nodeOf(ordinal) < index.nodes());
    // Chains lead only to older chunks, so they end.
    require(index.next_.at(ordinal) == NONE || index.next_.at(ordinal) < ordinal);
    const TextLocation& location = index.textLocations_.at(ordinal);
    require(location.slab < index.texts_.slabCount());
    const uint64_t used = index.texts_.used(location.slab);
    require(location.offset <= used && location.length <= used - location.offset);
  }
  for (uint32_t node = 0; node < index.nodes(); node++) {
    const uint32_t head = index.heads_.at(node).load(std::memory_order_relaxed);
    require(head == NONE || head < index.ordinals());
    require(std::isfinite(index.vectors_.inverseNorm(node)));
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
  uint32_t indexes = 0;
  for (size_t slot = 0; slot < DIMENSION_COUNT; slot++) {
    indexes += project.index(static_cast<int>(slot)) != nullptr;
  }
  out.manifest.put(indexes);
  // The scopes are read first, so that the indexes hold every chunk that they name.
  const auto scopes = project.scopes();
  for (size_t slot = 0; slot < DIMENSION_COUNT; slot++) {
    const auto index = project.index(static_cast<int>(slot));
    if (index) putIndex(out, *index);
  }
  putScopes(out, scopes);
}

void SnapshotCodec::putScopes(SnapshotWriter& out,
                              const std::map<std::string, std::shared_ptr<const Scope>>& scopes) {
  PageTable table;
  ByteWriter body;
  for (const auto& [id, scope] : scopes) {
    body.putString(id);
    for (const auto& part : scope->parts) {
      body.put(static_cast<uint32_t>(part ? part->ordinals.pageCount() : 0));
      if (!part) continue;
      for (const auto& page : part->ordinals.pages()) body.put(table.number(page));
    }
  }
  out.manifest.put(static_cast<uint64_t>(table.pages.size()));
  out.putCopy(table.pages.data(), table.pages.size() * sizeof(Page));
  out.manifest.put(static_cast<uint64_t>(body.bytes().size()));
  out.manifest.put(static_cast<uint32_t>(scopes.size()));
  out.putCopy(body.bytes().data(), body.bytes().size());
}

/// Most bytes of scopes in a snapshot. Protects from absurd lengths.
static constexpr uint64_t MAX_SCOPE_BYTES = uint64_t{16} << 30;

void SnapshotCodec::getProject(SnapshotReader& in, Project& project) {
  const auto indexes = in.manifest.get<uint32_t>();
  for (uint32_t i = 0; i < indexes; i++) {
    const int slot = dimensionSlot(in.manifest.get<uint32_t>());
    if (slot < 0 || project.index(slot)) throw std::runtime_error("an index has a wrong dimension");
    getIndex(in, *project.openIndex(slot));
  }
  getScopes(in, project);
  if (!in.manifest.done()) throw std::runtime_error("the manifest is too long");
}

void SnapshotCodec::getScopes(SnapshotReader& in, Project& project) {
  const auto pageCount = in.manifest.get<uint64_t>();
  if (pageCount > MAX_SCOPE_BYTES / sizeof(Page)) throw std::runtime_error("too many scope pages");
  std::vector<Page> pages(pageCount);
  in.getBytes(pages.data(), pageCount * sizeof(Page));
  const auto bodyLength = in.manifest.get<uint64_t>();
  const auto scopeCount = in.manifest.get<uint32_t>();
  if (bodyLength > MAX_SCOPE_BYTES) throw std::runtime_error("too many scopes");
  std::string bytes(bodyLength, '\0');
  in.getBytes(bytes.data(), bodyLength);

  ByteReader body(bytes);
  for (uint32_t i = 0; i < scopeCount; i++) {
    const std::string id(body.getString());
    auto scope = std::make_shared<Scope>();
    for (size_t slot = 0; slot < DIMENSION_COUNT; slot++) {
      const auto count = body.getCount(sizeof(uint32_t));
      if (count == 0) continue;
      const auto index = project.index(static_cast<int>(slot));
      if (!index || count > MAX_SLABS) throw std::runtime_error("a scope names no index");
      BitmapBuilder ordinals;
      ordinals.pages().resize(count, Page{});
      for (Page& page : ordinals.pages()) {
        const auto number = body.get<uint32_t>();
        if (number == NONE) continue;
        page = pages.at(number);
      }
      if (ordinals.end() > index->ordinals()) throw std::runtime_error("a scope names no chunk");
      scope->parts[slot] = project.freeze(index, ordinals);
    }
    project.scopes_[id] = std::move(scope);
  }
  if (!body.done()) throw std::runtime_error("the list of scopes is too long");
}

}  // namespace tessera
