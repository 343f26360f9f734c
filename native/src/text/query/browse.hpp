// Lists documents by path.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "text/query/text_view.hpp"

namespace tessera {

/// Where a document of a view is.
struct DocumentAddress {
  uint32_t segment;
  uint32_t document;
};

/// The first `limit` documents of a view and shard whose paths come after a path, in byte order. The
/// start is found by bisection, so the cost does not depend on its position.
std::vector<DocumentAddress> browse(const TextView& view, TextShard shard, std::string_view after,
                                    size_t limit);

}  // namespace tessera
