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

void SnapshotWriter::addTask(std::function<Extent()> write) {
  tasks_.push_back({std::move(write), manifest.bytes().size()});
  manifest.put(Extent{});
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
  if (length > 0) state_.write(data, length);
  const Extent extent{0, offset_, length, checksum(data, length)};
  offset_ += length;
  return extent;
}

bool SnapshotWriter::isWritten(const SnapshotFile& file) const {
  return file.length > 0 && file.directory == files.directory &&
         File::exists(files.directory + "/" + file.name, file.length);
}

SnapshotFile SnapshotWriter::writeFile(const char* kind, const void* data, uint64_t length) {
  const SnapshotFile written{files.directory, newName(kind), length, checksum(data, length)};
  File file = File::create(files.directory + "/" + written.name, File::READ_ONLY);
  file.write(data, length);
  file.sync();
  return written;
}

Extent SnapshotWriter::nameFile(const SnapshotFile& file) {
  files.names.push_back(file.name);
  files.sizes.push_back(file.length);
  return {files.names.size() - 1, 0, file.length, file.checksum};
}

Extent SnapshotWriter::writeSealed(Slab& slab, uint64_t length, bool mapped) {
  if (slab.file.length != length || !isWritten(slab.file)) {
    slab.file = writeFile("slab", slab.data(), length);
  }
  if (mapped && !slab.mapped()) {
    mappable.emplace_back(&slab, files.directory + "/" + slab.file.name);
  }
  return nameFile(slab.file);
}

Extent SnapshotWriter::writeGraph(const Graph& graph) {
  if (!isWritten(graph.file)) {
    const std::string bytes = graph.serialized();
    graph.file = writeFile("graph", bytes.data(), bytes.size());
  }
  return nameFile(graph.file);
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
  manifest.put(static_cast<uint32_t>(texts.slabCount()));
  for (size_t slab = 0; slab < texts.slabCount(); slab++) {
    const bool sealed = slab + 1 < texts.slabCount() && texts.used(slab) > 0;
    manifest.put(static_cast<uint64_t>(texts.slab(slab).capacity()));
    manifest.put(static_cast<uint64_t>(texts.used(slab)));
    manifest.put(static_cast<uint8_t>(sealed));
    if (sealed) {
      putSealed(texts.slab(slab), texts.used(slab), true);
    } else {
      putBytes(texts.slab(slab).data(), texts.used(slab));
    }
  }
}

void SnapshotWriter::finish() {
  for (const Task& task : tasks_) manifest.replace(task.position, task.write());
  files.sizes[0] = offset_;
  state_.sync();
}

}  // namespace tessera
