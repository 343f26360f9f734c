// Damaged or forged snapshots: reading them fails with an error, or returns a project that can be searched.
#include "snapshot/snapshot.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "check.hpp"
#include "common/checksum.hpp"
#include "search/render.hpp"
#include "search/search.hpp"
#include "snapshot/snapshot_files.hpp"

using namespace tessera;
namespace fs = std::filesystem;

static constexpr uint32_t DIMENSION = 768;
static constexpr uint32_t CHUNKS = 24;
static constexpr char ID[] = "fuzz";
static constexpr char SCOPE[] = "scope";
static constexpr char MANIFEST[] = "MANIFEST";
/// Of the header: magic, version, mark.
static constexpr size_t LENGTH_AT = 16, CHECKSUM_AT = 24, HEADER_BYTES = 32;

using Files = std::map<std::string, std::string>;

static std::vector<float> vectorOf(uint32_t seed) {
  std::vector<float> vector(DIMENSION);
  for (uint32_t i = 0; i < DIMENSION; i++) {
    seed = seed * 1664525 + 1013904223;
    vector[i] = static_cast<float>(seed >> 8) / (1 << 24) - 0.5f;
  }
  return vector;
}

/// A project with some chunks, of which every third shares the vector of another, the same without vectors, and a scope.
static void fill(Project& project) {
  std::vector<ChunkId> ids(CHUNKS);
  std::vector<float> vectors;
  std::string texts;
  std::vector<uint32_t> ends;
  for (uint32_t i = 0; i < CHUNKS; i++) {
    ids[i].bytes[0] = static_cast<uint8_t>(i);
    const std::vector<float> vector = vectorOf(i % 3 == 2 ? i - 1 : i);
    vectors.insert(vectors.end(), vector.begin(), vector.end());
    texts += "{\"index\":" + std::to_string(i) + "}";
    ends.push_back(static_cast<uint32_t>(texts.size()));
  }
  const int slot = dimensionSlot(DIMENSION);
  project.openIndex(slot)->append({CHUNKS, ids.data(), vectors.data(), texts, ends.data()});
  project.openIndex(indexSlot(NO_VECTORS))->append({CHUNKS, ids.data(), nullptr, texts, ends.data()});
  project.setScope(SCOPE, {{DIMENSION, {0, CHUNKS / 2, CHUNKS / 2 + 3, 5}}, {NO_VECTORS, {0, CHUNKS}}});
}

static std::string readFile(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// A folder in memory, if there is one, that is removed at the end.
struct Folder {
  const fs::path path =
      fs::path(fs::exists("/dev/shm") ? fs::path("/dev/shm") : fs::temp_directory_path()) /
      ("tessera-fuzz-" + std::to_string(getpid()));
  ~Folder() { fs::remove_all(path); }
};

static const fs::path& workFolder() {
  static const Folder folder;
  return folder.path;
}

/// The files of a valid snapshot.
static const Files& validFiles() {
  static const Files files = [] {
    Project project(ID);
    fill(project);
    writeSnapshot(project, workFolder(), "meta");
    Files read;
    for (const auto& entry : fs::directory_iterator(workFolder())) {
      read[entry.path().filename()] = readFile(entry.path());
    }
    return read;
  }();
  return files;
}

template <typename T>
static T valueAt(const std::string& bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

/// The names of the files in the order of their numbers: the state file is the first.
static std::vector<std::string> numbered(const Files& files) {
  std::vector<std::pair<size_t, std::string>> found;
  for (const auto& [name, bytes] : files) {
    const size_t at = files.at(MANIFEST).find(name);
    if (name != MANIFEST && at != std::string::npos) found.emplace_back(at, name);
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> names;
  for (auto& [at, name] : found) names.push_back(std::move(name));
  return names;
}

/// Where the valid manifest has extents.
static const std::vector<size_t>& extents() {
  static const std::vector<size_t> places = [] {
    const Files& files = validFiles();
    const std::vector<std::string> names = numbered(files);
    const std::string& manifest = files.at(MANIFEST);
    std::vector<size_t> found;
    for (size_t at = HEADER_BYTES; at + sizeof(Extent) <= manifest.size(); at++) {
      const auto extent = valueAt<Extent>(manifest, at);
      if (extent.file >= names.size() || extent.length == 0) continue;
      const std::string& bytes = files.at(names[extent.file]);
      if (extent.offset > bytes.size() || extent.length > bytes.size() - extent.offset) continue;
      if (checksum(bytes.data() + extent.offset, extent.length) == extent.checksum) found.push_back(at);
    }
    return found;
  }();
  return places;
}

/// Makes all checksums right again, as a forger would.
static void forgeChecksums(Files& files) {
  const std::vector<std::string> names = numbered(files);
  std::string& manifest = files.at(MANIFEST);
  for (const size_t at : extents()) {
    if (at + sizeof(Extent) > manifest.size()) continue;
    auto extent = valueAt<Extent>(manifest, at);
    if (extent.file >= names.size()) continue;
    const std::string& bytes = files.at(names[extent.file]);
    if (extent.offset > bytes.size() || extent.length > bytes.size() - extent.offset) continue;
    extent.checksum = checksum(bytes.data() + extent.offset, extent.length);
    std::memcpy(manifest.data() + at, &extent, sizeof extent);
  }
  if (manifest.size() < HEADER_BYTES) return;
  const uint64_t length = manifest.size() - HEADER_BYTES;
  const uint64_t sum = checksum(manifest.data() + HEADER_BYTES, length);
  std::memcpy(manifest.data() + LENGTH_AT, &length, sizeof length);
  std::memcpy(manifest.data() + CHECKSUM_AT, &sum, sizeof sum);
}

/// Changes one place of a file, selected by eight bytes of the input.
static void damage(Files& files, const uint8_t* edit) {
  auto file = files.begin();
  // Half of the edits change the manifest, which is parsed.
  if (edit[0] % 2 == 0) file = files.find(MANIFEST);
  else std::advance(file, edit[0] / 2 % files.size());
  std::string& bytes = file->second;
  if (bytes.empty()) return;
  const size_t at = (size_t{edit[1]} << 16 | size_t{edit[2]} << 8 | edit[3]) % bytes.size();
  switch (edit[4] % 4) {
    case 0:
      bytes[at] = static_cast<char>(edit[5]);
      break;
    case 1:
      for (size_t i = 0; i < 4 && at + i < bytes.size(); i++) {
        bytes[at + i] = static_cast<char>(i < 2 ? edit[5 + i] : edit[7]);
      }
      break;
    case 2:
      bytes.resize(at);
      break;
    default:
      bytes.insert(at, edit[5] % 64, static_cast<char>(edit[6]));
  }
}

static void readTexts(const Scope& scope) {
  std::string read;
  for (const auto& part : scope.parts[static_cast<size_t>(indexSlot(NO_VECTORS))]) {
    part->rows.forEach(0, [&](uint32_t row) { read += part->shard->text(row); });
  }
}

static void searchAll(const Project& project) {
  const std::vector<float> vector = vectorOf(1);
  for (const auto& [id, scope] : project.scopes()) {
    readTexts(*scope);
    for (const Method method : {Method::PLANNED, Method::EXACT, Method::SCAN, Method::GRAPH}) {
      Answer answer;
      search(*scope, {vector.data(), DIMENSION, 10, 0}, answer, method);
      CHECK(answer.hits.size() <= 10);
      std::string body;
      renderAnswer(answer, "/", body);
      CHECK(!body.empty());
    }
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  Files files = validFiles();
  for (size_t at = 1; at + 8 <= size; at += 8) damage(files, data + at);
  if (data[0] % 4 != 0) forgeChecksums(files);
  for (const auto& [name, bytes] : files) {
    std::ofstream(workFolder() / name, std::ios::binary) << bytes;
  }
  std::string meta;
  std::shared_ptr<Project> project;
  try {
    project = readSnapshot(ID, workFolder(), meta);
  } catch (const std::exception&) {
    return 0;
  }
  CHECK(project != nullptr);
  searchAll(*project);
  return 0;
}
