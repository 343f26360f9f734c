#include "graph/usearch_links.hpp"

#include <cstring>
#include <numeric>
#include <stdexcept>

namespace tessera {

using LinkHeader = unum::usearch::index_serialized_header_t;

/// More levels than a graph of any size has.
static constexpr uint64_t MAX_LEVEL = 32;

static UsearchLinks emptyLinks() {
  return UsearchLinks::make(unum::usearch::index_config_t{M, M0}).index;
}

namespace {

/// Writes the form of USearch's files: a header, the level of each node, and the nodes. A node is its key,
/// its level, and for each of its levels the number of links and the links.
class LinkWriter {
 public:
  explicit LinkWriter(const LinkTable& table) : table_(table), rankOf_(table.size(), NONE) {
    if (table.topLevel() == 0) return;
    const auto ranked = table.nodesOf(1);
    for (uint32_t rank = 0; rank < ranked.size(); rank++) rankOf_[ranked[rank]] = rank;
  }

  std::string written() {
    const uint32_t top = table_.topLevel();
    const uint32_t entry = top == 0 ? 0 : table_.nodesOf(top)[0];
    append(LinkHeader{table_.size(), M, M0, top, entry});
    for (uint32_t node = 0; node < table_.size(); node++) append(levelOf(node));
    for (uint32_t node = 0; node < table_.size(); node++) appendNode(node);
    return std::move(bytes_);
  }

 private:
  template <typename Value>
  void append(const Value& value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }

  int16_t levelOf(uint32_t node) const {
    int16_t level = 0;
    if (rankOf_[node] == NONE) return level;
    for (uint32_t above = 1; above <= table_.topLevel(); above++) {
      if (rankOf_[node] < table_.nodesOf(above).size()) level++;
    }
    return level;
  }

  void appendNode(uint32_t node) {
    const int16_t top = levelOf(node);
    append(uint32_t{0});
    append(top);
    appendList(table_.base(node), M0, [](uint32_t linked) { return linked; });
    for (int16_t level = 1; level <= top; level++) {
      const auto above = static_cast<uint32_t>(level);
      const auto ranked = table_.nodesOf(above);
      appendList(table_.upper(above, rankOf_[node]), M, [&](uint32_t rank) { return ranked[rank]; });
    }
  }

  template <typename NodeOf>
  void appendList(const uint32_t* links, uint32_t most, NodeOf nodeOf) {
    const uint32_t count = countLinks(links, most);
    append(count);
    for (uint32_t i = 0; i < most; i++) append(i < count ? nodeOf(links[i]) : uint32_t{0});
  }

  const LinkTable& table_;
  std::vector<uint32_t> rankOf_;
  std::string bytes_;
};

}  // namespace

std::string serializedLinks(const LinkTable& table) { return LinkWriter(table).written(); }

UsearchLinks usearchLinksOf(const LinkTable* table) {
  UsearchLinks links = emptyLinks();
  if (table == nullptr) return links;
  const std::string bytes = serializedLinks(*table);
  size_t at = 0;
  const auto loaded = links.load_from_stream([&](void* to, size_t length) {
    if (length > bytes.size() - at) return false;
    std::memcpy(to, bytes.data() + at, length);
    at += length;
    return true;
  });
  if (!loaded) throw std::bad_alloc();
  return links;
}

LinkTable linkTableOf(const UsearchLinks& links, std::span<const uint32_t> nodeOf) {
  std::vector<int16_t> levels(links.size());
  for (uint32_t slot = 0; slot < levels.size(); slot++) {
    levels[nodeOf[slot]] = static_cast<int16_t>(links.level_of(slot));
  }
  LinkTable table(levels);
  std::vector<uint32_t> rankOf(levels.size(), NONE);
  // The nodes of a level are the first nodes of the level below.
  const auto ranked = table.topLevel() == 0 ? std::span<const uint32_t>{} : table.nodesOf(1);
  for (uint32_t rank = 0; rank < ranked.size(); rank++) rankOf[ranked[rank]] = rank;
  for (uint32_t slot = 0; slot < levels.size(); slot++) {
    const uint32_t node = nodeOf[slot];
    for (uint32_t level = 0; level <= static_cast<uint32_t>(levels[node]); level++) {
      uint32_t* to = level == 0 ? table.base(node) : table.upper(level, rankOf[node]);
      const auto neighbours = links.neighbors(slot, level);
      for (auto link = neighbours.begin(); link != neighbours.end(); ++link) {
        const uint32_t linked = nodeOf[link.slot()];
        *to++ = level == 0 ? linked : rankOf[linked];
      }
    }
  }
  return table;
}

static void require(bool valid) {
  if (!valid) throw std::runtime_error("a link of the graph leads nowhere");
}

/// Checks the header and the levels, which USearch reads before the nodes. Returns the level of each node.
static std::vector<int16_t> checkedLevels(const Slab& file, uint32_t nodes) {
  LinkHeader header;
  require(file.capacity() >= sizeof header);
  std::memcpy(&header, file.data(), sizeof header);
  require(header.connectivity == M && header.connectivity_base == M0 && header.size > 0 &&
          header.size <= nodes && header.max_level <= MAX_LEVEL);
  require(header.entry_slot < header.size);
  std::vector<int16_t> levels(header.size);
  require((file.capacity() - sizeof header) / sizeof levels[0] >= levels.size());
  std::memcpy(levels.data(), file.data() + sizeof header, levels.size() * sizeof levels[0]);
  const auto highest = static_cast<int16_t>(header.max_level);
  for (const int16_t level : levels) require(level >= 0 && level <= highest);
  require(levels[header.entry_slot] == highest);
  return levels;
}

/// Throws unless every node has a level and every link leads to a node that exists on its level.
static void check(const UsearchLinks& links) {
  for (uint32_t node = 0; node < links.size(); node++) {
    for (size_t level = 0; level <= links.level_of(node); level++) {
      const auto neighbours = links.neighbors(node, level);
      require(neighbours.size() <= (level == 0 ? M0 : M));
      for (auto link = neighbours.begin(); link != neighbours.end(); ++link) {
        require(link.slot() < links.size() && links.level_of(link.slot()) >= level);
      }
    }
  }
}

LinkTable readLinks(const Slab& file, uint32_t nodes) {
  const std::vector<int16_t> levels = checkedLevels(file, nodes);
  UsearchLinks links = emptyLinks();
  char* data = reinterpret_cast<char*>(file.data());
  require(static_cast<bool>(
      links.view(unum::usearch::memory_mapped_file_t(data, file.capacity()))));
  for (uint32_t node = 0; node < levels.size(); node++) {
    require(static_cast<int16_t>(links.level_of(node)) == levels[node]);
  }
  check(links);
  std::vector<uint32_t> nodeOf(levels.size());
  std::iota(nodeOf.begin(), nodeOf.end(), 0u);
  return linkTableOf(links, nodeOf);
}

}  // namespace tessera
