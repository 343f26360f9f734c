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

/// The links to insert nodes into: the links of a table, where a node's slot is its number, or no links for null.
UsearchLinks usearchLinksOf(const LinkTable* table);
/// The links between nodes. `nodeOf` gives the node of each slot.
LinkTable linkTableOf(const UsearchLinks& links, std::span<const uint32_t> nodeOf);

/// The links in the form of USearch's files.
std::string serializedLinks(const LinkTable& table);
/// Reads the output of `serializedLinks`, of at most `nodes` nodes. Throws for any other input, because
/// USearch trusts every link.
LinkTable readLinks(const Slab& file, uint32_t nodes);

}  // namespace tessera
