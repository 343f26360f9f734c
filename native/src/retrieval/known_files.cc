#include "retrieval/known_files.hpp"

namespace tessera {

/// Files that are kept, of some hundred bytes each.
static constexpr size_t KNOWN_FILES_MAX = 10'000;

KnownFiles& KnownFiles::instance() {
  static KnownFiles files;
  return files;
}

void KnownFiles::add(std::string_view versionId, std::string_view file) {
  const std::lock_guard lock(mutex_);
  if (files_.size() >= KNOWN_FILES_MAX) files_.clear();
  files_.insert_or_assign(std::string(versionId), std::string(file));
}

std::string KnownFiles::find(std::string_view versionId) {
  const std::lock_guard lock(mutex_);
  const auto known = files_.find(std::string(versionId));
  return known == files_.end() ? std::string() : known->second;
}

}  // namespace tessera
