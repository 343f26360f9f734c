#include "snapshot.hpp"

#include <algorithm>
#include <set>
#include <system_error>

#include "checksum.hpp"
#include "snapshot_codec.hpp"

namespace tessera {

static constexpr char MANIFEST[] = "MANIFEST";
static constexpr uint64_t MAGIC = 0x50414e5341524554ull;
static constexpr uint32_t FORMAT_VERSION = 1;
/// Reads differently on a machine of the other byte order.
static constexpr uint32_t ENDIAN_MARK = 0x01020304u;
/// Bytes of a manifest at most, against absurd lengths.
static constexpr uint64_t MAX_MANIFEST_BYTES = uint64_t{1} << 30;

struct Header {
  uint64_t magic;
  uint32_t version;
  uint32_t endianMark;
  uint64_t bodyLength;
  uint64_t bodyChecksum;
};

static std::string assemble(const Project& project, std::string_view meta,
                            const SnapshotWriter& writer) {
  WireWriter body;
  body.putString(project.id());
  body.putString(meta);
  body.put(static_cast<uint32_t>(writer.files.names.size()));
  for (size_t i = 0; i < writer.files.names.size(); i++) {
    body.putString(writer.files.names[i]);
    body.put(writer.files.sizes[i]);
  }
  const std::string bytes = body.bytes() + writer.wire.bytes();
  const Header header{MAGIC, FORMAT_VERSION, ENDIAN_MARK, bytes.size(),
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
  // From here on the snapshot stands; what follows only gives back memory and disk.
  std::set<std::string> named(writer.files.names.begin(), writer.files.names.end());
  removeFiles(directory, [&](const std::string& name) {
    const bool ours = name.ends_with(".bin") || name.ends_with(".new");
    return !ours || named.count(name) > 0;
  });
  for (const auto& [slab, path] : writer.adoptable) {
    try {
      const File file = File::open(path);
      if (file.size() == slab->file.length) slab->adopt(file.fd(), slab->file.length);
    } catch (const std::system_error&) {
      // Should somebody remove the file right now, the memory simply stays where it is.
    }
  }
}

/// A name that can't lead out of the directory.
static bool plainName(std::string_view name) {
  return !name.empty() && name.find('/') == std::string_view::npos && name != "." && name != "..";
}

static std::string readManifest(const std::string& path) {
  const File file = File::open(path);
  const uint64_t size = file.size();
  Header header;
  if (size < sizeof header) throw std::runtime_error("the manifest is cut short");
  file.read(0, &header, sizeof header);
  if (header.magic != MAGIC) throw std::runtime_error("the manifest is not one of ours");
  if (header.endianMark != ENDIAN_MARK) throw std::runtime_error("foreign byte order");
  if (header.version != FORMAT_VERSION) {
    throw std::runtime_error("format version " + std::to_string(header.version) +
                             ", this build reads " + std::to_string(FORMAT_VERSION));
  }
  if (header.bodyLength > MAX_MANIFEST_BYTES || header.bodyLength != size - sizeof header) {
    throw std::runtime_error("the manifest does not have its length");
  }
  std::string body(header.bodyLength, '\0');
  file.read(sizeof header, body.data(), body.size());
  if (checksum(body.data(), body.size()) != header.bodyChecksum) {
    throw std::runtime_error("the manifest does not have its checksum");
  }
  return body;
}

std::shared_ptr<Project> readSnapshot(const std::string& id, const std::string& directory,
                                      std::string& meta) {
  const std::string path = directory + "/" + MANIFEST;
  if (!std::filesystem::exists(path)) return nullptr;
  const std::string bytes = readManifest(path);
  WireReader body(bytes);
  if (body.getString() != id) throw std::runtime_error("the snapshot is of another project");
  meta = body.getString();
  SnapshotFiles files{directory, {}, {}};
  const auto count = body.getCount(2 * sizeof(uint64_t));
  for (uint32_t i = 0; i < count; i++) {
    const std::string name(body.getString());
    const auto size = body.get<uint64_t>();
    if (!plainName(name) || !File::exists(directory + "/" + name, size)) {
      throw std::runtime_error(name + " is missing or does not have its size");
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
