#include "snapshot/snapshot.hpp"

#include <algorithm>
#include <set>
#include <system_error>

#include "common/checksum.hpp"
#include "snapshot/snapshot_codec.hpp"

namespace tessera {

static constexpr char MANIFEST[] = "MANIFEST";
static constexpr uint64_t MAGIC = 0x50414e5341524554ull;
/// Has another value on a machine with the other byte order.
static constexpr uint32_t ENDIAN_MARK = 0x01020304u;
/// Most bytes of a manifest. Protects from absurd lengths.
static constexpr uint64_t MAX_MANIFEST_BYTES = uint64_t{1} << 30;

struct Header {
  uint64_t magic;
  uint32_t version;
  uint32_t endianMark;
  uint64_t bodyLength;
  uint64_t bodyChecksum;
};

/// The project of a registered name. The suffix from `#` on distinguishes loads of one project.
static std::string_view projectOf(std::string_view name) { return name.substr(0, name.find('#')); }

static std::string assemble(const Project& project, std::string_view meta,
                            const SnapshotWriter& writer) {
  ByteWriter body;
  body.putString(projectOf(project.id()));
  body.putString(meta);
  body.put(static_cast<uint32_t>(writer.files.names.size()));
  for (size_t i = 0; i < writer.files.names.size(); i++) {
    body.putString(writer.files.names[i]);
    body.put(writer.files.sizes[i]);
  }
  const std::string bytes = body.bytes() + writer.manifest.bytes();
  const Header header{MAGIC, SNAPSHOT_FORMAT_VERSION, ENDIAN_MARK, bytes.size(),
                      checksum(bytes.data(), bytes.size())};
  return std::string(reinterpret_cast<const char*>(&header), sizeof header) + bytes;
}

void writeSnapshot(Project& project, const std::string& directory, std::string_view meta) {
  std::lock_guard alone(project.snapshotting());
  makeDirectory(directory);
  SnapshotWriter writer(directory);
  {
    std::lock_guard lock(project.writer());
    SnapshotCodec::putProject(writer, project);
  }
  writer.finish();
  replaceFile(directory + "/" + MANIFEST, assemble(project, meta, writer));
  // The snapshot is complete. The rest only frees disk space and memory.
  std::set<std::string> named(writer.files.names.begin(), writer.files.names.end());
  removeFiles(directory, [&](const std::string& name) {
    const bool owned = name.ends_with(".bin") || name.ends_with(".new");
    return !owned || named.count(name) > 0;
  });
  for (const auto& [slab, path] : writer.mappable) {
    try {
      const File file = File::open(path);
      if (file.size() == slab->file.length) slab->mapFile(file.fd(), slab->file.length);
    } catch (const std::system_error&) {
      // If the file was removed in the meantime, the slab stays in memory.
    }
  }
}

/// True for a name that cannot lead out of the directory.
static bool isPlainName(std::string_view name) {
  return !name.empty() && name.find('/') == std::string_view::npos && name != "." && name != "..";
}

static std::string readManifest(const std::string& path) {
  const File file = File::open(path);
  const uint64_t size = file.size();
  Header header;
  if (size < sizeof header) throw std::runtime_error("the manifest is truncated");
  file.read(0, &header, sizeof header);
  if (header.magic != MAGIC) throw std::runtime_error("the manifest is not that of a snapshot");
  if (header.endianMark != ENDIAN_MARK) {
    throw std::runtime_error("the snapshot has another byte order");
  }
  if (header.version != SNAPSHOT_FORMAT_VERSION) {
    throw std::runtime_error("format version " + std::to_string(header.version) +
                             ", this build reads " + std::to_string(SNAPSHOT_FORMAT_VERSION));
  }
  if (header.bodyLength > MAX_MANIFEST_BYTES || header.bodyLength != size - sizeof header) {
    throw std::runtime_error("the manifest has a wrong length");
  }
  std::string body(header.bodyLength, '\0');
  file.read(sizeof header, body.data(), body.size());
  if (checksum(body.data(), body.size()) != header.bodyChecksum) {
    throw std::runtime_error("the manifest has a wrong checksum");
  }
  return body;
}

std::shared_ptr<Project> readSnapshot(const std::string& id, const std::string& directory,
                                      std::string& meta) {
  const std::string path = directory + "/" + MANIFEST;
  if (!std::filesystem::exists(path)) return nullptr;
  const std::string bytes = readManifest(path);
  ByteReader body(bytes);
  if (body.getString() != projectOf(id)) throw std::runtime_error("the snapshot is of another project");
  meta = body.getString();
  SnapshotFiles files{directory, {}, {}};
  const auto count = body.getCount(2 * sizeof(uint64_t));
  for (uint32_t i = 0; i < count; i++) {
    const std::string name(body.getString());
    const auto size = body.get<uint64_t>();
    if (!isPlainName(name) || !File::exists(directory + "/" + name, size)) {
      throw std::runtime_error(name + " is missing or has a wrong size");
    }
    files.names.push_back(name);
    files.sizes.push_back(size);
  }
  if (files.names.empty()) throw std::runtime_error("the manifest names no files");
  auto project = std::make_shared<Project>(id);
  SnapshotReader reader(std::move(files), body.rest());
  SnapshotCodec::getProject(reader, *project);
  return project;
}

}  // namespace tessera
