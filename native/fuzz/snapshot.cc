// Damaged or forged snapshots: reading them fails with an error, or returns a project that can be searched.
#include "snapshot/snapshot.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "check.hpp"
#include "common/checksum.hpp"
#include "search/render.hpp"
#include "search/search.hpp"

using namespace tessera;
namespace fs = std::filesystem;

static constexpr uint32_t DIMENSION = 768;
static constexpr uint32_t CHUNKS = 24;
static constexpr char ID[] = "fuzz";
static constexpr char SCOPE[] = "scope";

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

/// A file of a snapshot, and its bytes.
struct StoredFile {
  SnapshotFile file;
  std::string bytes;
};

/// A folder in memory, if there is one, that is removed at the end.
struct Folder {
  const fs::path path =
      fs::path(fs::exists("/dev/shm") ? fs::path("/dev/shm") : fs::temp_directory_path()) /
      ("tessera-fuzz-" + std::to_string(getpid()));
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
};

/// The files of a valid snapshot, of which the first has the state.
static const std::vector<StoredFile>& validFiles() {
  static const Folder folder;
  static const std::vector<StoredFile> files = [] {
    Project project(ID);
    fill(project);
    std::vector<StoredFile> read;
    for (const SnapshotFile& file : writeSnapshot(project, folder.path)) {
      std::ifstream in(file.path(), std::ios::binary);
      read.push_back({file, {std::istreambuf_iterator<char>(in), {}}});
      // The written files are read-only.
      fs::permissions(file.path(), fs::perms::owner_write, fs::perm_options::add);
    }
    return read;
  }();
  return files;
}

/// The length of the layout is the first word of the state.
static size_t layoutBytes(const std::string& state) {
  uint64_t length = 0;
  std::memcpy(&length, state.data(), std::min(state.size(), sizeof length));
  return length < state.size() ? std::min(state.size(), sizeof length + length) : state.size();
}

/// Changes one place of a file, selected by eight bytes of the input.
static void damage(std::vector<StoredFile>& files, const uint8_t* edit) {
  // Half of the edits change the layout, which is parsed.
  const bool isLayout = edit[0] % 2 == 0;
  std::string& bytes = files[isLayout ? 0 : edit[0] / 2 % files.size()].bytes;
  if (bytes.empty()) return;
  const size_t places = isLayout ? layoutBytes(bytes) : bytes.size();
  const size_t at = (size_t{edit[1]} << 16 | size_t{edit[2]} << 8 | edit[3]) % places;
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

/// Writes the files, and returns them as a manifest names them: with their old sizes and checksums, or as a forger
/// would, who makes them right again.
static std::vector<SnapshotFile> written(const std::vector<StoredFile>& files, bool isForged) {
  std::vector<SnapshotFile> named;
  for (const auto& [file, bytes] : files) {
    std::ofstream(file.path(), std::ios::binary) << bytes;
    named.push_back(file);
    if (!isForged) continue;
    named.back().length = bytes.size();
    named.back().checksum = checksum(bytes.data(), bytes.size());
  }
  return named;
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
  std::vector<StoredFile> files = validFiles();
  for (size_t at = 1; at + 8 <= size; at += 8) damage(files, data + at);
  std::shared_ptr<Project> project;
  try {
    project = readSnapshot(ID, written(files, data[0] % 4 != 0));
  } catch (const std::exception&) {
    return 0;
  }
  CHECK(project != nullptr);
  searchAll(*project);
  return 0;
}
