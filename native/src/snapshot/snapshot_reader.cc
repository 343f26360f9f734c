#include "snapshot/snapshot_reader.hpp"

#include <numeric>
#include <stdexcept>

#include "common/checksum.hpp"

namespace tessera {

[[noreturn]] static void inconsistent() {
  throw std::runtime_error("the manifest contradicts itself");
}

SnapshotReader::SnapshotReader(SnapshotFiles files, std::string_view manifest)
    : manifest(manifest), files_(std::move(files)),
      state_(File::open(files_.path(0))) {}

Extent SnapshotReader::takeExtent() {
  const Extent extent = manifest.get<Extent>();
  if (extent.file >= files_.names.size() ||
      extent.offset > files_.sizes[extent.file] ||
      extent.length > files_.sizes[extent.file] - extent.offset) {
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
  if (length > std::accumulate(files_.sizes.begin(), files_.sizes.end(), uint64_t{0})) inconsistent();
}

void SnapshotReader::getBytes(void* data, uint64_t length) {
  const Extent extent = takeExtent(length);
  if (extent.file != 0) inconsistent();
  state_.read(extent.offset, data, length);
  if (checksum(data, length) != extent.checksum) {
    throw std::runtime_error(files_.names[0] + " has a wrong checksum");
  }
}

void SnapshotReader::readInto(const Extent& extent, Slab& slab, bool mapped) {
  const std::string& name = files_.names[extent.file];
  if (extent.file == 0) {
    state_.read(extent.offset, slab.data(), extent.length);
  } else {
    const File file = File::open(files_.path(extent.file));
    if (file.size() != extent.length || extent.offset != 0) {
      throw std::runtime_error(name + " has a wrong size");
    }
    if (mapped) slab.mapFile(file.fd(), extent.length);
    else file.read(0, slab.data(), extent.length);
    slab.file = SnapshotFile{files_.directory, name, extent.length, extent.checksum};
  }
  if (checksum(slab.data(), extent.length) != extent.checksum) {
    throw std::runtime_error(name + " has a wrong checksum");
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
  const auto slabs = manifest.getCount(sizeof(Extent));
  for (uint32_t slab = 0; slab < slabs; slab++) {
    const auto capacity = manifest.get<uint64_t>();
    const auto used = manifest.get<uint64_t>();
    const bool sealed = manifest.get<uint8_t>() != 0;
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
