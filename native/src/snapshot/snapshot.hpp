// Snapshots: a project in files.
//
// A directory holds a manifest, one state file, and one file for each full slab of vectors, codes and
// texts and for each generation of a graph. These never change, so their files are written once and
// named again by later manifests. The manifest is renamed into place last: a crash at any time leaves the
// old snapshot or the new one.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "project/project.hpp"

namespace tessera {

/// The version of the format. src/domain/disk-formats.ts states it too; a test compares them.
inline constexpr uint32_t SNAPSHOT_FORMAT_VERSION = 8;

/// Writes a consistent snapshot. Searches continue, and appends wait only while the small part of
/// the project that may change is copied. Any thread may call it.
void writeSnapshot(Project& project, const std::string& directory, std::string_view meta);

/// Reads a snapshot. Returns null if the directory contains no snapshot. Throws if it is damaged, has
/// another format version or belongs to another project.
std::shared_ptr<Project> readSnapshot(const std::string& id, const std::string& directory,
                                      std::string& meta);

}  // namespace tessera
