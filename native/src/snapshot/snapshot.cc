#include "snapshot/snapshot.hpp"

#include <bit>
#include <system_error>

#include "snapshot/snapshot_codec.hpp"

namespace tessera {

static_assert(std::endian::native == std::endian::little, "a snapshot can be read by every build of the service");

std::vector<SnapshotFile> writeSnapshot(Project& project, const std::string& directory) {
  std::lock_guard alone(project.snapshotting());
  SnapshotWriter writer(directory);
  {
    std::lock_guard lock(project.writer());
    SnapshotCodec::putProject(writer, project);
  }
  writer.finish();
  // The files are durable. The rest only frees memory.
  for (Slab* slab : writer.mappable) {
    try {
      const File file = File::open(slab->file.path());
      if (file.size() == slab->file.length) slab->mapFile(file.fd(), slab->file.length);
    } catch (const std::system_error&) {
      // If the file was removed in the meantime, the slab stays in memory.
    }
  }
  return writer.files;
}

std::shared_ptr<Project> readSnapshot(const std::string& id, std::vector<SnapshotFile> files) {
  if (files.empty()) throw std::runtime_error("a snapshot has no files");
  for (const SnapshotFile& file : files) {
    if (!File::exists(file.path(), file.length)) {
      throw std::runtime_error(file.name + " is missing or has a wrong size");
    }
  }
  auto project = std::make_shared<Project>(id);
  SnapshotReader reader(std::move(files));
  SnapshotCodec::getProject(reader, *project);
  return project;
}

}  // namespace tessera
