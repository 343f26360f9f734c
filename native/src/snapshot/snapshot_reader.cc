#include "snapshot/snapshot_reader.hpp"

#include <cstring>
#include <stdexcept>

#include "common/checksum.hpp"
#include "storage/file.hpp"

namespace tessera {

[[noreturn]] static void inconsistent() {
  throw std::runtime_error("the layout contradicts itself");
}

SnapshotReader::SnapshotReader(std::vector<SnapshotFile> files)
    : files_(std::move(files)), state_(files_.at(0).length) {
  readFile(files_[0], state_, true);
  ByteReader bytes({reinterpret_cast<const char*>(state_.data()), files_[0].length});
  layout = ByteReader(bytes.getString());
}

Extent SnapshotReader::takeExtent() {
  const Extent extent = layout.get<Extent>();
  if (extent.file >= files_.size() || extent.offset > files_[extent.file].length ||
      extent.length > files_[extent.file].length - extent.offset) {
    inconsistent();
  }
  return extent;
}

Extent SnapshotReader::takeExtent(uint64_t length) {
  const Extent extent = takeExtent();
  if (extent.length != length) inconsistent();
  return extent;
}

void SnapshotReader::requireBytes(uint64_t length) const {
  uint64_t bytes = 0;
  for (const SnapshotFile& file : files_) bytes += file.length;
  if (length > bytes) inconsistent();
}

void SnapshotReader::getBytes(void* data, uint64_t length) {
  const Extent extent = takeExtent(length);
  if (extent.file != 0) inconsistent();
  if (length > 0) std::memcpy(data, state_.data() + extent.offset, length);
}

void SnapshotReader::readFile(const SnapshotFile& file, Slab& slab, bool mapped) {
  const File opened = File::open(file.path());
  if (opened.size() != file.length) throw std::runtime_error(file.name + " has a wrong size");
  if (mapped) slab.mapFile(opened.fd(), file.length);
  else opened.read(0, slab.data(), file.length);
  if (checksum(slab.data(), file.length) != file.checksum) {
    throw std::runtime_error(file.name + " has a wrong checksum");
  }
  slab.file = file;
}

void SnapshotReader::readInto(const Extent& extent, Slab& slab, bool mapped) {
  if (extent.file == 0) {
    std::memcpy(slab.data(), state_.data() + extent.offset, extent.length);
  } else if (extent.offset == 0 && extent.length == files_[extent.file].length) {
    readFile(files_[extent.file], slab, mapped);
  } else {
    inconsistent();
  }
}

void SnapshotReader::getColumn(Column& column, uint32_t rows, Rows kind) {
  column.ensure(rows);
  for (size_t slab = 0; slab < slabsOf(column, rows); slab++) {
    const uint32_t used = rowsOfSlab(column, rows, slab);
    const Extent extent = takeExtent(uint64_t{used} * column.rowBytes());
    if (extent.file != 0 && !(isSealed(kind) && used == column.slabRows())) {
      inconsistent();
    }
    readInto(extent, column.slab(slab), kind == Rows::SEALED);
  }
}

void SnapshotReader::getTexts(TextArena& texts) {
  const auto slabs = layout.getCount(sizeof(Extent));
  for (uint32_t slab = 0; slab < slabs; slab++) {
    const auto capacity = layout.get<uint64_t>();
    const auto used = layout.get<uint64_t>();
    const bool sealed = layout.get<uint8_t>() != 0;
    if (capacity > MAX_TEXT_BYTES || capacity == 0 || used > capacity) {
      inconsistent();
    }
    const Extent extent = takeExtent(used);
    if ((extent.file != 0) != sealed || (sealed && used == 0)) {
      inconsistent();
    }
    readInto(extent, texts.addSlab(capacity, used), true);
  }
}

std::unique_ptr<const Graph> SnapshotReader::getGraph(uint32_t nodes) {
  const Extent extent = takeExtent();
  if (extent.file == 0 || extent.length == 0) inconsistent();
  auto file = std::make_unique<Slab>(extent.length);
  readInto(extent, *file, true);
  return Graph::open(std::move(file), nodes);
}

}  // namespace tessera
