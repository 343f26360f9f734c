// The rendered JSON text of each chunk, appended once and never changed.
#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include "common/limits.hpp"
#include "storage/slab.hpp"

namespace tessera {

struct TextLocation {
  uint32_t slab;
  uint32_t offset;
  uint32_t length;
};

/// One writer appends while any number of threads read.
class TextArena {
 public:
  TextArena();

  /// Copies a text and returns its location. Writer only.
  TextLocation append(std::string_view text);
  std::string_view at(const TextLocation& location) const;

  size_t slabCount() const { return slabs_.size(); }
  Slab& slab(size_t number) { return *slabs_[number]; }
  size_t used(size_t number) const { return used_[number]; }
  uint64_t bytes() const;

  /// Adds a slab with `used` bytes in use, which the caller fills. Writer only.
  Slab& addSlab(size_t capacity, size_t used);

 private:
  Slab table_;
  std::vector<std::unique_ptr<Slab>> slabs_;
  std::vector<size_t> used_;
};

}  // namespace tessera
