// The links of a graph as USearch inserts nodes into them, and as files hold them.
#pragma once
#include <string>
#include <usearch/index.hpp>

#include "graph/link_table.hpp"
#include "graph/tape_arena.hpp"

namespace tessera {

/// A node's slot is its number. Keys are not used.
using UsearchLinks =
    unum::usearch::index_gt<float, uint32_t, uint32_t, std::allocator<char>, TapeArena>;

/// The links to insert nodes into: those of a table, or none for null.
UsearchLinks usearchLinksOf(const LinkTable* table);
LinkTable linkTableOf(const UsearchLinks& links);

/// The links in the form of USearch's files.
std::string serializedLinks(const LinkTable& table);
/// Reads what `serializedLinks` made, of at most `nodes` nodes. Throws when it is something else: USearch
/// itself trusts every link.
LinkTable readLinks(const Slab& file, uint32_t nodes);

}  // namespace tessera
