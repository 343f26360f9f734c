#include "fields/filter_results.hpp"

#include <algorithm>

namespace tessera {

/// File versions that are evaluated together. An evaluation that ended early resumes with the block where it ended.
static constexpr uint32_t BLOCK_VERSIONS = 512;

/// Words of a set of this many numbers.
static size_t wordsOf(size_t count) { return (count + 31) / 32; }

void FilterResults::begin(NumberSet scope) {
  evaluation_.restart();
  isInBlock_ = false;
  known_.resize(wordsOf(store_->versions()));
  matched_.resize(wordsOf(condition_->usesMetadata() ? store_->chunks() : store_->versions()));
  open_.assign(scope.begin(), scope.begin() + static_cast<ptrdiff_t>(std::min(scope.size(), known_.size())));
  for (size_t word = 0; word < open_.size(); word++) open_[word] &= ~known_[word];
  end_ = static_cast<uint32_t>(std::min<size_t>(store_->versions(), 32 * open_.size()));
  block_ = {0, std::min(end_, BLOCK_VERSIONS)};
}

bool FilterResults::step() {
  size_t work = 0;
  while (isInBlock_ || beginBlock()) {
    if (!evaluation_.step(*store_, work)) return false;
    endBlock();
  }
  return true;
}

/// Begins with the next block that has a version to evaluate. False if none has.
bool FilterResults::beginBlock() {
  const auto first = open_.begin();
  for (; block_.first < end_; block_ = {block_.end, std::min(end_, block_.end + BLOCK_VERSIONS)}) {
    const auto isOpen = [](uint32_t bits) { return bits != 0; };
    if (std::any_of(first + block_.first / 32, first + static_cast<ptrdiff_t>(wordsOf(block_.end)), isOpen)) break;
  }
  if (block_.first >= end_) return false;
  const auto starts = store_->firstChunks();
  const bool byChunk = condition_->usesMetadata();
  const uint32_t base = byChunk ? starts[block_.first] : block_.first;
  RowMask wanted((byChunk ? starts[block_.end] : block_.end) - base);
  for (uint32_t version = block_.first; version < block_.end; version++) {
    if (!hasNumber(open_, version)) continue;
    const uint32_t row = byChunk ? starts[version] : version;
    const uint32_t end = byChunk ? starts[version + 1] : version + 1;
    std::fill(wanted.begin() + (row - base), wanted.begin() + (end - base), uint8_t{1});
  }
  evaluation_.begin(*store_, block_, std::move(wanted));
  isInBlock_ = true;
  return true;
}

void FilterResults::endBlock() {
  const uint32_t base = condition_->usesMetadata() ? store_->firstChunks()[block_.first] : block_.first;
  const RowMask& matches = evaluation_.matches();
  for (size_t i = 0; i < matches.size(); i++) {
    const auto row = static_cast<uint32_t>(base + i);
    if (matches[i] != 0) matched_[row / 32] |= 1u << (row & 31);
  }
  for (size_t word = block_.first / 32; word < wordsOf(block_.end); word++) known_[word] |= open_[word];
  block_ = {block_.end, std::min(end_, block_.end + BLOCK_VERSIONS)};
  isInBlock_ = false;
}

bool FilterResults::knows(NumberSet scope) const {
  for (size_t word = 0; word < scope.size(); word++) {
    if ((scope[word] & ~(word < known_.size() ? known_[word] : 0)) != 0) return false;
  }
  return true;
}

bool FilterResults::hasMatch(uint32_t version) const {
  if (!condition_->usesMetadata()) return hasNumber(matched_, version);
  const auto starts = store_->firstChunks();
  for (uint32_t chunk = starts[version]; chunk < starts[version + 1]; chunk++) {
    if (hasNumber(matched_, chunk)) return true;
  }
  return false;
}

std::vector<uint32_t> FilterResults::versionsIn(NumberSet scope) const {
  std::vector<uint32_t> versions;
  const auto end = static_cast<uint32_t>(std::min<size_t>(store_->versions(), 32 * scope.size()));
  for (uint32_t version = 0; version < end; version++) {
    if (hasNumber(scope, version) && hasMatch(version)) versions.push_back(version);
  }
  return versions;
}

}  // namespace tessera
