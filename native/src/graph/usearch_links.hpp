// The links of a graph as USearch inserts nodes into them, and as files hold them.
#pragma once
#include <span>
#include <string>
#include <usearch/index.hpp>

#include "graph/link_table.hpp"
#include "graph/tape_arena.hpp"

namespace tessera {

/// Slots are in the order of insertion. Keys are not used.
using UsearchLinks =
    unum::usearch::index_gt<float, uint32_t, uint32_t, std::allocator<char>, TapeArena>;

/// The links to insert nodes into: those of a table, where a node's slot is its number, or none for null.
UsearchLinks usearchLinksOf(const LinkTable* table);
/// The links between nodes, of which each has the slot that says so.
LinkTable linkTableOf(const UsearchLinks& links, std::span<const uint32_t> nodeOf);

/// The links in the form of USearch's files.
std::string serializedLinks(const LinkTable& table);
/// Reads what `serializedLinks` made, of at most `nodes` nodes. Throws when it is something else: USearch
/// itself trusts every link.
LinkTable readLinks(const Slab& file, uint32_t nodes);

}  // namespace tessera
