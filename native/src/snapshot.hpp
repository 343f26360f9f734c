// Snapshots: a project in files.
//
// A directory holds a manifest, one state file, and one file for each slab that can't change any
// more (vectors and texts). Those are written once and named again by later manifests. The manifest
// is renamed into place last, so a crash at any instant leaves the old snapshot or the new one.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "project.hpp"

namespace tessera {

/// Writes a snapshot of this instant. Searches go on, and so does appending but for the moment in
/// which the little that may change is copied. Any thread may call it.
void writeSnapshot(Project& project, const std::string& directory, std::string_view meta);

/// Reads a snapshot, or returns null when the directory holds none. Throws when anything in it is
/// not exactly what was written.
std::shared_ptr<Project> readSnapshot(const std::string& id, const std::string& directory,
                                      std::string& meta);

}  // namespace tessera
