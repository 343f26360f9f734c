#include "snapshot/snapshot_writer.hpp"

#include <unistd.h>

#include <atomic>
#include <chrono>

#include "common/checksum.hpp"

namespace tessera {

static SnapshotFile newFile(const std::string& directory, const char* kind) {
  static std::atomic<uint64_t> counter{0};
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  const std::string name = std::string(kind) + "-" + std::to_string(nanoseconds) + "-" +
                           std::to_string(getpid()) + "-" + std::to_string(counter++) + ".bin";
  return {directory, name, 0, ""};
}

SnapshotWriter::SnapshotWriter(const std::string& directory)
    : files{newFile(directory, "state")}, state_(File::create(files[0].path())) {}

void SnapshotWriter::addTask(std::function<Extent()> write) {
  tasks_.push_back({std::move(write), layout.bytes().size()});
  layout.put(Extent{});
}

void SnapshotWriter::putBytes(const void* data, uint64_t length) {
  addTask([=, this] { return writeBytes(data, length); });
}

void SnapshotWriter::putCopy(const void* data, uint64_t length) {
  copies_.emplace_back(static_cast<const char*>(data), length);
  putBytes(copies_.back().data(), length);
}

void SnapshotWriter::putSealed(Slab& slab, uint64_t length, bool mapped) {
  addTask([=, this, &slab] { return writeSealed(slab, length, mapped); });
}

void SnapshotWriter::putGraph(std::shared_ptr<const Graph> graph) {
  addTask([this, graph = std::move(graph)] { return writeGraph(*graph); });
}

Extent SnapshotWriter::writeBytes(const void* data, uint64_t length) {
  state_.write(offset_, data, length);
  const Extent extent{0, offset_, length};
  offset_ += length;
  return extent;
}

bool SnapshotWriter::isWritten(const SnapshotFile& file) const {
  return file.length > 0 && file.directory == directory() && File::exists(file.path(), file.length);
}

SnapshotFile SnapshotWriter::writeFile(const char* kind, const void* data, uint64_t length) const {
  SnapshotFile written = newFile(directory(), kind);
  File file = File::create(written.path());
  file.write(0, data, length);
  file.sync();
  written.length = length;
  written.checksum = checksum(data, length);
  return written;
}

Extent SnapshotWriter::addFile(const SnapshotFile& file) {
  files.push_back(file);
  return {files.size() - 1, 0, file.length};
}

Extent SnapshotWriter::writeSealed(Slab& slab, uint64_t length, bool mapped) {
  const bool isNew = slab.file.length != length || !isWritten(slab.file);
  if (isNew) slab.file = writeFile("slab", slab.data(), length);
  // A file that is mapped although it was removed takes space until the new one replaces it.
  if (mapped && (isNew || !slab.mapped())) mappable.push_back(&slab);
  return addFile(slab.file);
}

Extent SnapshotWriter::writeGraph(const Graph& graph) {
  if (!isWritten(graph.file)) {
    const std::string bytes = graph.serialized();
    graph.file = writeFile("graph", bytes.data(), bytes.size());
  }
  return addFile(graph.file);
}

void SnapshotWriter::putColumn(Column& column, uint32_t rows, Rows kind) {
  for (size_t slab = 0; slab < slabsOf(column, rows); slab++) {
    const uint32_t used = rowsOfSlab(column, rows, slab);
    const uint64_t length = uint64_t{used} * column.rowBytes();
    if (isSealed(kind) && used == column.slabRows()) {
      putSealed(column.slab(slab), length, kind == Rows::SEALED);
    } else if (kind == Rows::MUTABLE) {
      putCopy(column.slab(slab).data(), length);
    } else {
      putBytes(column.slab(slab).data(), length);
    }
  }
}

void SnapshotWriter::putTexts(TextArena& texts) {
  layout.put(static_cast<uint32_t>(texts.slabCount()));
  for (size_t slab = 0; slab < texts.slabCount(); slab++) {
    const bool sealed = slab + 1 < texts.slabCount() && texts.used(slab) > 0;
    layout.put(static_cast<uint64_t>(texts.slab(slab).capacity()));
    layout.put(static_cast<uint64_t>(texts.used(slab)));
    layout.put(static_cast<uint8_t>(sealed));
    if (sealed) {
      putSealed(texts.slab(slab), texts.used(slab), true);
    } else {
      putBytes(texts.slab(slab).data(), texts.used(slab));
    }
  }
}

void SnapshotWriter::finish() {
  offset_ = sizeof(uint64_t) + layout.bytes().size();
  for (const Task& task : tasks_) layout.replace(task.position, task.write());
  ByteWriter beginning;
  beginning.putString(layout.bytes());
  state_.write(0, beginning.bytes().data(), beginning.bytes().size());
  state_.sync();
  Slab written(offset_);
  written.mapFile(state_.fd(), offset_);
  files[0].length = offset_;
  files[0].checksum = checksum(written.data(), offset_);
  syncDirectory(directory());
}

}  // namespace tessera
