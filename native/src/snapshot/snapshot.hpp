// Snapshots: a project in files.
//
// One file has the state: the layout of the project, and all bytes that may change. Each full slab of vectors, codes and
// texts and each generation of a graph has a file of its own. These never change, so their files are written once and
// belong to later snapshots as well. The caller keeps the names, sizes and checksums of the files in a manifest.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "project/project.hpp"
#include "storage/slab.hpp"

namespace tessera {

/// Writes a consistent snapshot durably and returns its files, of which the first has the state. Searches continue, and
/// appends wait only while the small part of the project that may change is copied. Any thread may call it.
std::vector<SnapshotFile> writeSnapshot(Project& project, const std::string& directory);

/// Reads a snapshot from its files, in the order of `writeSnapshot`. Throws if one of them is missing or damaged.
std::shared_ptr<Project> readSnapshot(const std::string& id, std::vector<SnapshotFile> files);

}  // namespace tessera
