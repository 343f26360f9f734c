#include "fields/field_store.hpp"

#include <stdexcept>

#include "common/limits.hpp"

namespace tessera {

std::shared_lock<std::shared_mutex> FieldStore::reading() const {
  const std::lock_guard gate(gate_);
  return std::shared_lock(mutex_);
}

std::unique_lock<std::shared_mutex> FieldStore::writing() {
  const std::lock_guard gate(gate_);
  return std::unique_lock(mutex_);
}

const FieldColumns* FieldStore::columns(FieldRoot root) const {
  if (root == FieldRoot::path) return nullptr;
  return root == FieldRoot::metadata ? &metadata_ : &frontmatter_;
}

const FieldColumn* FieldStore::find(FieldRoot root, std::u16string_view path) const {
  return root == FieldRoot::path ? &path_ : columns(root)->find(path);
}

std::optional<uint32_t> FieldStore::numberOf(const VersionKey& version) const {
  const auto known = numbers_.find(version);
  return known == numbers_.end() ? std::nullopt : std::optional(known->second);
}

void FieldStore::move(std::span<const uint32_t> numbers) {
  const auto lock = writing();
  for (const uint32_t number : numbers) numbers_[ids_.at(number)] = number;
}

void FieldStore::append(const VersionKey& version, uint32_t chunks) {
  const auto lock = writing();
  const uint32_t number = appendLocked(version, chunks);
  numbers_[version] = number;
}

uint32_t FieldStore::appendLocked(const VersionKey& version, uint32_t chunks) {
  if (chunks == 0 || chunks >= NONE - this->chunks()) throw std::invalid_argument("a version has no number of chunks");
  const uint32_t number = versions();
  ids_.push_back(version);
  firstChunks_.push_back(this->chunks() + chunks);
  return number;
}

void FieldStore::add(const VersionKey& id, std::u16string_view path, std::u16string_view frontmatter,
                     std::u16string_view metadata, uint32_t chunks) {
  const auto lock = writing();
  uint32_t chunk = this->chunks();
  const uint32_t version = appendLocked(id, chunks);
  // Scopes have an earlier number until it is moved.
  numbers_.try_emplace(id, version);
  path_.add(version, textValue(path));
  JsonReader fields(frontmatter);
  frontmatter_.add(version, fields);
  JsonReader list(metadata);
  list.eachElement([&] {
    if (chunk == this->chunks()) throw std::invalid_argument("a version has metadata without a chunk");
    metadata_.add(chunk++, list);
  });
  fields.end();
  list.end();
}

void FieldStore::restore(FieldRoot root, const std::u16string* path, std::u16string_view values,
                         std::span<const uint32_t> rows, std::span<const uint32_t> codes) {
  const auto lock = writing();
  FieldColumn& column = root == FieldRoot::path ? path_ : path == nullptr ? open(root).rest() : open(root).open(*path);
  JsonReader list(values);
  list.eachElement([&] {
    const auto value = readValue(list);
    if (!value) throw std::invalid_argument("a value of a field is not valid");
    column.addValue(*value);
  });
  list.end();
  if (rows.size() != codes.size()) throw std::invalid_argument("the entries of a field lack codes");
  const uint32_t end = root == FieldRoot::metadata ? chunks() : versions();
  for (size_t i = 0; i < rows.size(); i++) column.addEntry(rows[i], codes[i], end);
}

std::shared_ptr<FieldStore> FieldStore::kept(NumberSet held) const {
  auto kept = std::make_shared<FieldStore>();
  FieldStore& store = *kept;
  std::vector<uint32_t> versionNumbers(versions(), NONE);
  std::vector<uint32_t> chunkNumbers(chunks(), NONE);
  for (uint32_t version = 0; version < versions(); version++) {
    if (!hasNumber(held, version)) continue;
    versionNumbers[version] = store.versions();
    uint32_t number = store.chunks();
    for (uint32_t chunk = firstChunks_[version]; chunk < firstChunks_[version + 1]; chunk++) {
      chunkNumbers[chunk] = number++;
    }
    store.append(ids_[version], firstChunks_[version + 1] - firstChunks_[version]);
  }
  store.path_ = path_.renumbered(versionNumbers);
  store.frontmatter_ = frontmatter_.renumbered(versionNumbers);
  store.metadata_ = metadata_.renumbered(chunkNumbers);
  return kept;
}

size_t FieldStore::bytes() const {
  // An entry of the map is a node with a pointer and its hash, and has about one bucket.
  constexpr size_t NUMBER_BYTES = sizeof(VersionKey) + sizeof(uint32_t) + 4 * sizeof(void*);
  const size_t versionBytes = ids_.capacity() * sizeof(VersionKey) + numbers_.size() * NUMBER_BYTES;
  return sizeof(FieldStore) + path_.bytes() + frontmatter_.bytes() + metadata_.bytes() + versionBytes +
         4 * firstChunks_.capacity();
}

}  // namespace tessera
