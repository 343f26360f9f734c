// The rendered JSON text of each chunk, appended once and never changed.
#pragma once
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "limits.hpp"
#include "slab.hpp"

namespace tessera {

/// Where a text lies.
struct Place {
  uint32_t slab;
  uint32_t offset;
  uint32_t length;
};

class Arena {
 public:
  Arena();

  /// Copies a text in and returns its place. Only the writer calls it.
  Place append(std::string_view text);
  std::string_view at(const Place& place) const;

  size_t slabCount() const { return slabs_.size(); }
  Slab& slab(size_t number) { return *slabs_[number]; }
  size_t used(size_t number) const { return used_[number]; }
  uint64_t bytes() const;

  /// Adds an empty slab; restoring fills it through `slab` and tells `used` bytes.
  Slab& addSlab(size_t capacity, size_t used);

 private:
  Slab table_;
  std::vector<std::unique_ptr<Slab>> slabs_;
  std::vector<size_t> used_;
};

}  // namespace tessera
