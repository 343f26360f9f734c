// Reading and writing the parts of a snapshot: bytes, columns, texts.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>

#include "checksum.hpp"
#include "snapshot_codec.hpp"

namespace tessera {

/// Rows in use of one slab of a column that has `rows` rows.
static uint32_t rowsOfSlab(const Column& column, uint32_t rows, size_t slab) {
  const uint64_t left = rows - slab * column.slabRows();
  return static_cast<uint32_t>(std::min<uint64_t>(left, column.slabRows()));
}

static size_t slabsOf(const Column& column, uint32_t rows) {
  return (size_t{rows} + column.slabRows() - 1) / column.slabRows();
}

SnapshotWriter::SnapshotWriter(const std::string& directory)
    : files{directory, {}, {}}, state_(createState()) {}

std::string SnapshotWriter::freshName(const char* kind) {
  static std::atomic<uint64_t> counter{0};
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  return std::string(kind) + "-" + std::to_string(nanoseconds) + "-" + std::to_string(getpid()) +
         "-" + std::to_string(counter++) + ".bin";
}

File SnapshotWriter::createState() {
  files.names.push_back(freshName("state"));
  files.sizes.push_back(0);
  return File::create(files.directory + "/" + files.names[0]);
}

void SnapshotWriter::note(const void* data, uint64_t length, Slab* sealed) {
  tasks_.push_back({data, length, wire.bytes().size(), sealed});
  wire.put(Part{});
}

void SnapshotWriter::putBytes(const void* data, uint64_t length) { note(data, length, nullptr); }

void SnapshotWriter::putCopy(const void* data, uint64_t length) {
  copies_.emplace_back(static_cast<const char*>(data), length);
  putBytes(copies_.back().data(), length);
}

void SnapshotWriter::putSealed(Slab& slab, uint64_t length) { note(slab.data(), length, &slab); }

Part SnapshotWriter::writeBytes(const void* data, uint64_t length) {
  if (length > 0) state_.write(data, length);
  const Part part{0, offset_, length, checksum(data, length)};
  offset_ += length;
  return part;
}

Part SnapshotWriter::writeSealed(Slab& slab, uint64_t length) {
  SlabFile& known = slab.file;
  const bool reusable = known.directory == files.directory && known.length == length &&
                        File::exists(files.directory + "/" + known.name, length);
  if (!reusable) {
    SlabFile fresh{files.directory, freshName("slab"), length, checksum(slab.data(), length)};
    File file = File::create(files.directory + "/" + fresh.name, File::READ_ONLY);
    file.write(slab.data(), length);
    file.sync();
    known = fresh;
  }
  files.names.push_back(known.name);
  files.sizes.push_back(length);
  if (!slab.adopted()) adoptable.emplace_back(&slab, files.directory + "/" + known.name);
  return {files.names.size() - 1, 0, length, known.checksum};
}

void SnapshotWriter::putColumn(Column& column, uint32_t rows, Rows kind) {
  for (size_t slab = 0; slab < slabsOf(column, rows); slab++) {
    const uint32_t used = rowsOfSlab(column, rows, slab);
    const uint64_t length = uint64_t{used} * column.rowBytes();
    if (kind == Rows::SEALABLE && used == column.slabRows()) {
      putSealed(column.slab(slab), length);
    } else if (kind == Rows::CHANGING) {
      putCopy(column.slab(slab).data(), length);
    } else {
      putBytes(column.slab(slab).data(), length);
    }
  }
}

void SnapshotWriter::putArena(Arena& arena) {
  wire.put(static_cast<uint32_t>(arena.slabCount()));
  for (size_t slab = 0; slab < arena.slabCount(); slab++) {
    const bool sealed = slab + 1 < arena.slabCount() && arena.used(slab) > 0;
    wire.put(static_cast<uint64_t>(arena.slab(slab).capacity()));
    wire.put(static_cast<uint64_t>(arena.used(slab)));
    wire.put(static_cast<uint8_t>(sealed));
    if (sealed) {
      putSealed(arena.slab(slab), arena.used(slab));
    } else {
      putBytes(arena.slab(slab).data(), arena.used(slab));
    }
  }
}

void SnapshotWriter::finish() {
  for (const Task& task : tasks_) {
    wire.replace(task.place, task.sealed ? writeSealed(*task.sealed, task.length)
                                         : writeBytes(task.data, task.length));
  }
  files.sizes[0] = offset_;
  state_.sync();
}

SnapshotReader::SnapshotReader(SnapshotFiles files, std::string_view body)
    : wire(body), files_(std::move(files)),
      state_(File::open(files_.directory + "/" + files_.names.at(0))) {}

Part SnapshotReader::takePart(uint64_t length) {
  const Part part = wire.get<Part>();
  if (part.file >= files_.names.size() || part.length != length ||
      part.offset > files_.sizes[part.file] ||
      part.length > files_.sizes[part.file] - part.offset) {
    throw std::runtime_error("the manifest disagrees with itself");
  }
  return part;
}

void SnapshotReader::getBytes(void* data, uint64_t length) {
  const Part part = takePart(length);
  if (part.file != 0) throw std::runtime_error("the manifest disagrees with itself");
  state_.read(part.offset, data, length);
  if (checksum(data, length) != part.checksum) {
    throw std::runtime_error(files_.names[0] + " does not have its checksum");
  }
}

void SnapshotReader::readPart(const Part& part, Slab& slab) {
  const std::string& name = files_.names[part.file];
  if (part.file == 0) {
    state_.read(part.offset, slab.data(), part.length);
  } else {
    const File file = File::open(files_.directory + "/" + name);
    if (file.size() != part.length || part.offset != 0) {
      throw std::runtime_error(name + " does not have its size");
    }
    slab.adopt(file.fd(), part.length);
    slab.file = SlabFile{files_.directory, name, part.length, part.checksum};
  }
  if (checksum(slab.data(), part.length) != part.checksum) {
    throw std::runtime_error(name + " does not have its checksum");
  }
}

void SnapshotReader::getColumn(Column& column, uint32_t rows, bool sealable) {
  column.ensure(rows);
  for (size_t slab = 0; slab < slabsOf(column, rows); slab++) {
    const uint32_t used = rowsOfSlab(column, rows, slab);
    const Part part = takePart(uint64_t{used} * column.rowBytes());
    if (part.file != 0 && !(sealable && used == column.slabRows())) {
      throw std::runtime_error("the manifest disagrees with itself");
    }
    readPart(part, column.slab(slab));
  }
}

void SnapshotReader::getArena(Arena& arena) {
  const auto slabs = wire.getCount(sizeof(Part));
  for (uint32_t slab = 0; slab < slabs; slab++) {
    const auto capacity = wire.get<uint64_t>();
    const auto used = wire.get<uint64_t>();
    const bool sealed = wire.get<uint8_t>() != 0;
    if (capacity > MAX_TEXT_BYTES || capacity == 0 || used > capacity) {
      throw std::runtime_error("the manifest disagrees with itself");
    }
    const Part part = takePart(used);
    if ((part.file != 0) != sealed || (sealed && used == 0)) {
      throw std::runtime_error("the manifest disagrees with itself");
    }
    readPart(part, arena.addSlab(capacity, used));
  }
}

}  // namespace tessera
