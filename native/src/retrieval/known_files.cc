#include "retrieval/known_files.hpp"

#include <cmath>

namespace tessera {

/// Cached files, of some hundred bytes each.
static constexpr size_t KNOWN_FILES_MAX = 10'000;

KnownFiles& KnownFiles::instance() {
  // Never destroyed, because worker threads may still read it while the process exits.
  static KnownFiles* const files = new KnownFiles();
  return *files;
}

void KnownFiles::add(std::string_view versionId, std::string_view file, double milliseconds) {
  auto until = Clock::time_point::max();
  if (std::isfinite(milliseconds)) {
    const std::chrono::duration<double, std::milli> lifetime(milliseconds);
    until = Clock::now() + std::chrono::duration_cast<Clock::duration>(lifetime);
  }
  const std::lock_guard lock(mutex_);
  if (files_.size() >= KNOWN_FILES_MAX) files_.clear();
  files_.insert_or_assign(std::string(versionId), File{std::string(file), until});
}

std::string KnownFiles::find(std::string_view versionId) {
  const std::lock_guard lock(mutex_);
  const auto known = files_.find(versionId);
  if (known == files_.end()) return {};
  if (known->second.until > Clock::now()) return known->second.json;
  files_.erase(known);
  return {};
}

}  // namespace tessera
