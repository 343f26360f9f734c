#include "snapshot_codec.hpp"

#include <cmath>

namespace tessera {

void SnapshotCodec::putIndex(SnapshotWriter& out, Index& index) {
  const uint32_t ordinals = index.ordinals();
  const uint32_t nodes = index.nodes();
  out.wire.put(index.dimension_);
  out.wire.put(ordinals);
  out.wire.put(nodes);
  out.putColumn(index.ids_, ordinals, Rows::FINAL);
  out.putColumn(index.places_, ordinals, Rows::FINAL);
  out.putColumn(index.nodeOf_, ordinals, Rows::FINAL);
  out.putColumn(index.next_, ordinals, Rows::FINAL);
  out.putArena(index.texts_);
  out.putColumn(index.vectors_, nodes, Rows::SEALABLE);
  out.putColumn(index.inverseNorms_, nodes, Rows::FINAL);
  out.putColumn(index.hashes_, nodes, Rows::FINAL);
  out.putColumn(index.heads_, nodes, Rows::CHANGING);
  const std::shared_ptr<Sketch> sketch = index.sketch_.load();
  out.wire.put(static_cast<uint8_t>(sketch != nullptr));
  if (!sketch) return;
  putSketch(out, *sketch);
  // A new centre would put another one in its place.
  out.keep(sketch);
}

void SnapshotCodec::putSketch(SnapshotWriter& out, Sketch& sketch) {
  out.wire.put(sketch.coded);
  out.wire.put(sketch.fittedTo);
  out.wire.put(sketch.calibratedAt);
  out.wire.put(sketch.expansion.load());
  std::vector<float>& centre = sketch.book.centre();
  out.putBytes(centre.data(), centre.size() * sizeof(float));
  out.putColumn(sketch.codes, sketch.coded, Rows::FINAL);
  out.putColumn(sketch.fine, sketch.coded, Rows::FINAL);
  Graph& graph = sketch.graph;
  out.wire.put(graph.size());
  out.wire.put(graph.upperRows_);
  out.wire.put(graph.entry_.load());
  out.putColumn(graph.ground_, graph.size(), Rows::CHANGING);
  out.putColumn(graph.upperStart_, graph.size(), Rows::FINAL);
  out.putColumn(graph.upper_, graph.upperRows_, Rows::CHANGING);
}

void SnapshotCodec::getSketch(SnapshotReader& in, Sketch& sketch, uint32_t nodes) {
  sketch.coded = in.wire.get<uint32_t>();
  sketch.fittedTo = in.wire.get<uint32_t>();
  sketch.calibratedAt = in.wire.get<uint32_t>();
  sketch.expansion = in.wire.get<uint32_t>();
  std::vector<float>& centre = sketch.book.centre();
  in.getBytes(centre.data(), centre.size() * sizeof(float));
  sketch.book.centreChanged();
  if (sketch.coded != nodes) throw std::runtime_error("an index is not coded");
  in.getColumn(sketch.codes, nodes, false);
  in.getColumn(sketch.fine, nodes, false);
  Graph& graph = sketch.graph;
  const auto size = in.wire.get<uint32_t>();
  graph.upperRows_ = in.wire.get<uint32_t>();
  graph.entry_ = in.wire.get<uint64_t>();
  if (size > nodes || graph.upperRows_ > MAX_ROWS) throw std::runtime_error("a wrong graph");
  in.getColumn(graph.ground_, size, false);
  in.getColumn(graph.upperStart_, size, false);
  in.getColumn(graph.upper_, graph.upperRows_, false);
  graph.size_ = size;
  graph.check();
}

void SnapshotCodec::getIndex(SnapshotReader& in, Index& index) {
  const auto ordinals = in.wire.get<uint32_t>();
  const auto nodes = in.wire.get<uint32_t>();
  if (ordinals > MAX_ROWS || nodes > MAX_ROWS) throw std::runtime_error("an index is too large");
  in.getColumn(index.ids_, ordinals, false);
  in.getColumn(index.places_, ordinals, false);
  in.getColumn(index.nodeOf_, ordinals, false);
  in.getColumn(index.next_, ordinals, false);
  in.getArena(index.texts_);
  in.getColumn(index.vectors_, nodes, true);
  in.getColumn(index.inverseNorms_, nodes, false);
  in.getColumn(index.hashes_, nodes, false);
  in.getColumn(index.heads_, nodes, false);
  index.ordinals_.store(ordinals);
  index.nodes_.store(nodes);
  checkIndex(index);
  if (in.wire.get<uint8_t>() != 0) {
    auto sketch = std::make_shared<Sketch>(index.dimension());
    getSketch(in, *sketch, nodes);
    index.sketch_.store(std::move(sketch));
  } else if (nodes > 0) {
    throw std::runtime_error("an index is not coded");
  }
  for (uint32_t node = 0; node < nodes; node++) index.rememberNode(node);
}

/// A checksum proves that the bytes are those that were written; this proves that they were sane, so
/// that not even a forged snapshot makes a search read outside of its memory.
void SnapshotCodec::checkIndex(const Index& index) {
  const auto insist = [](bool fine) {
    if (!fine) throw std::runtime_error("a row of the snapshot points nowhere");
  };
  for (uint32_t ordinal = 0; ordinal < index.ordinals(); ordinal++) {
    insist(index.nodeOf(ordinal) < index.nodes());
    // Chains lead to older chunks only, so they end.
    insist(index.next_.at(ordinal) == NONE || index.next_.at(ordinal) < ordinal);
    const Place& place = index.places_.at(ordinal);
    insist(place.slab < index.texts_.slabCount());
    const uint64_t used = index.texts_.used(place.slab);
    insist(place.offset <= used && place.length <= used - place.offset);
  }
  for (uint32_t node = 0; node < index.nodes(); node++) {
    const uint32_t head = index.heads_.at(node).load(std::memory_order_relaxed);
    insist(head == NONE || head < index.ordinals());
    insist(std::isfinite(index.inverseNorm(node)));
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
  out.wire.put(indexes);
  // The scopes are taken first: whatever chunks they name are then in the indexes.
  const auto scopes = project.scopes();
  for (size_t slot = 0; slot < DIMENSION_COUNT; slot++) {
    const auto index = project.index(static_cast<int>(slot));
    if (index) putIndex(out, *index);
  }
  PageTable table;
  WireWriter body;
  for (const auto& [id, scope] : scopes) {
    body.putString(id);
    for (const auto& part : scope->parts) {
      body.put(static_cast<uint32_t>(part ? part->ordinals.pageCount() : 0));
      if (!part) continue;
      for (const auto& page : part->ordinals.pages()) body.put(table.number(page));
    }
  }
  out.wire.put(static_cast<uint64_t>(table.pages.size()));
  out.putCopy(table.pages.data(), table.pages.size() * sizeof(Page));
  out.wire.put(static_cast<uint64_t>(body.bytes().size()));
  out.wire.put(static_cast<uint32_t>(scopes.size()));
  out.putCopy(body.bytes().data(), body.bytes().size());
}

/// Bytes of scopes in a snapshot at most, against absurd lengths.
static constexpr uint64_t MAX_SCOPE_BYTES = uint64_t{16} << 30;

void SnapshotCodec::getProject(SnapshotReader& in, Project& project) {
  const auto indexes = in.wire.get<uint32_t>();
  for (uint32_t i = 0; i < indexes; i++) {
    const int slot = dimensionSlot(in.wire.get<uint32_t>());
    if (slot < 0 || project.index(slot)) throw std::runtime_error("an index has a wrong dimension");
    getIndex(in, *project.openIndex(slot));
  }
  const auto pageCount = in.wire.get<uint64_t>();
  if (pageCount > MAX_SCOPE_BYTES / sizeof(Page)) throw std::runtime_error("too many scope pages");
  std::vector<Page> pages(pageCount);
  in.getBytes(pages.data(), pageCount * sizeof(Page));
  const auto bodyLength = in.wire.get<uint64_t>();
  const auto scopeCount = in.wire.get<uint32_t>();
  if (bodyLength > MAX_SCOPE_BYTES) throw std::runtime_error("too many scopes");
  std::string bytes(bodyLength, '\0');
  in.getBytes(bytes.data(), bodyLength);

  WireReader body(bytes);
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
  if (!body.done() || !in.wire.done()) throw std::runtime_error("the manifest is too long");
}

}  // namespace tessera
