// The memory of the nodes of a USearch graph.
#pragma once
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "storage/slab.hpp"

namespace tessera {

/// An allocator, in the form that USearch expects, for nodes that are freed together. Searches read them at
/// random, so they are in a few slabs, which the system can back with huge pages.
class TapeArena {
 public:
  using value_type = char;

  TapeArena() = default;
  TapeArena(TapeArena&&) = default;
  TapeArena& operator=(TapeArena&&) = default;
  /// USearch copies an allocator to give the copy of a graph one of its own.
  TapeArena(const TapeArena&) {}

  /// Returns null when memory runs out.
  char* allocate(size_t bytes) noexcept {
    if ((slabs_.empty() || bytes > SLAB_BYTES - used_) && !addSlab()) return nullptr;
    char* memory = reinterpret_cast<char*>(slabs_.back()->data()) + used_;
    used_ += bytes;
    return memory;
  }

  /// USearch passes null to free all nodes. It frees single ones only when it updates them, which
  /// never happens here.
  void deallocate(char* memory, size_t) {
    if (memory == nullptr) reset();
  }
  /// Frees all nodes at once.
  void reset() { slabs_.clear(); }

 private:
  static constexpr size_t SLAB_BYTES = size_t{8} << 20;

  bool addSlab() noexcept {
    try {
      slabs_.push_back(std::make_unique<Slab>(SLAB_BYTES));
    } catch (const std::bad_alloc&) {
      return false;
    }
    if (slabs_.size() > 1) slabs_.back()->preferHugePages();
    used_ = 0;
    return true;
  }

  std::vector<std::unique_ptr<Slab>> slabs_;
  size_t used_ = 0;
};

}  // namespace tessera
