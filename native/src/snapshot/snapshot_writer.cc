#include "snapshot/snapshot_writer.hpp"

#include <unistd.h>

#include <atomic>
#include <chrono>

#include "common/checksum.hpp"

namespace tessera {

SnapshotWriter::SnapshotWriter(const std::string& directory)
    : files{directory, {}, {}}, state_(createState()) {}

std::string SnapshotWriter::newName(const char* kind) {
  static std::atomic<uint64_t> counter{0};
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  return std::string(kind) + "-" + std::to_string(nanoseconds) + "-" + std::to_string(getpid()) +
         "-" + std::to_string(counter++) + ".bin";
}

File SnapshotWriter::createState() {
  files.names.push_back(newName("state"));
  files.sizes.push_back(0);
  return File::create(files.path(0));
}

void SnapshotWriter::addTask(const void* data, uint64_t length, Slab* sealed) {
  tasks_.push_back({data, length, manifest.bytes().size(), sealed});
  manifest.put(Extent{});
}

void SnapshotWriter::putBytes(const void* data, uint64_t length) { addTask(data, length, nullptr); }

void SnapshotWriter::putCopy(const void* data, uint64_t length) {
  copies_.emplace_back(static_cast<const char*>(data), length);
  putBytes(copies_.back().data(), length);
}

void SnapshotWriter::putSealed(Slab& slab, uint64_t length) { addTask(slab.data(), length, &slab); }

Extent SnapshotWriter::writeBytes(const void* data, uint64_t length) {
  if (length > 0) state_.write(data, length);
  const Extent extent{0, offset_, length, checksum(data, length)};
  offset_ += length;
  return extent;
}

Extent SnapshotWriter::writeSealed(Slab& slab, uint64_t length) {
  SlabFile& known = slab.file;
  const bool reusable = known.directory == files.directory && known.length == length &&
                        File::exists(files.directory + "/" + known.name, length);
  if (!reusable) {
    SlabFile fresh{files.directory, newName("slab"), length, checksum(slab.data(), length)};
    File file = File::create(files.directory + "/" + fresh.name, File::READ_ONLY);
    file.write(slab.data(), length);
    file.sync();
    known = fresh;
  }
  files.names.push_back(known.name);
  files.sizes.push_back(length);
  if (!slab.mapped()) mappable.emplace_back(&slab, files.directory + "/" + known.name);
  return {files.names.size() - 1, 0, length, known.checksum};
}

void SnapshotWriter::putColumn(Column& column, uint32_t rows, Rows kind) {
  for (size_t slab = 0; slab < slabsOf(column, rows); slab++) {
    const uint32_t used = rowsOfSlab(column, rows, slab);
    const uint64_t length = uint64_t{used} * column.rowBytes();
    if (kind == Rows::SEALABLE && used == column.slabRows()) {
      putSealed(column.slab(slab), length);
    } else if (kind == Rows::MUTABLE) {
      putCopy(column.slab(slab).data(), length);
    } else {
      putBytes(column.slab(slab).data(), length);
    }
  }
}

void SnapshotWriter::putTexts(TextArena& texts) {
  manifest.put(static_cast<uint32_t>(texts.slabCount()));
  for (size_t slab = 0; slab < texts.slabCount(); slab++) {
    const bool sealed = slab + 1 < texts.slabCount() && texts.used(slab) > 0;
    manifest.put(static_cast<uint64_t>(texts.slab(slab).capacity()));
    manifest.put(static_cast<uint64_t>(texts.used(slab)));
    manifest.put(static_cast<uint8_t>(sealed));
    if (sealed) {
      putSealed(texts.slab(slab), texts.used(slab));
    } else {
      putBytes(texts.slab(slab).data(), texts.used(slab));
    }
  }
}

void SnapshotWriter::finish() {
  for (const Task& task : tasks_) {
    manifest.replace(task.position, task.sealed ? writeSealed(*task.sealed, task.length)
                                         : writeBytes(task.data, task.length));
  }
  files.sizes[0] = offset_;
  state_.sync();
}

}  // namespace tessera
