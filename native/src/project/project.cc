#include "project/project.hpp"

#include <stdexcept>

#include "project/compaction.hpp"

namespace tessera {

Project::Project(std::string id) : id_(std::move(id)) {}
Project::~Project() = default;

std::shared_ptr<Index> Project::index(int slot) const {
  std::shared_lock lock(view_);
  return indexes_[static_cast<size_t>(slot)];
}

std::shared_ptr<Index> Project::openIndex(int slot) {
  std::unique_lock lock(view_);
  std::shared_ptr<Index>& index = indexes_[static_cast<size_t>(slot)];
  if (!index) index = std::make_shared<Index>(dimensionAt(static_cast<size_t>(slot)));
  return index;
}

std::shared_ptr<const Scope> Project::scope(const std::string& id) const {
  std::shared_lock lock(view_);
  const auto entry = scopes_.find(id);
  return entry == scopes_.end() ? nullptr : entry->second;
}

std::shared_ptr<const ScopePart> Project::freeze(std::shared_ptr<const Shard> shard,
                                                 BitmapBuilder& rows) {
  auto part = std::make_shared<ScopePart>();
  part->rows = pages_.freeze(rows);
  BitmapBuilder nodes;
  if (shard->dimension() != NO_VECTORS) {
    part->rows.forEach(0, [&](uint32_t row) { nodes.add(shard->nodeOf(row)); });
  }
  part->nodes = pages_.freeze(nodes);
  part->shard = std::move(shard);
  return part;
}

/// Sorts ranges of ordinals by shard.
static std::vector<BitmapBuilder> rowsByShard(const Shards& shards,
                                              const std::vector<uint32_t>& pairs) {
  std::vector<BitmapBuilder> rows(shards.size());
  for (size_t i = 0; i + 1 < pairs.size(); i += 2) {
    const uint32_t number = pairs[i] >> Shard::ROW_BITS;
    const uint32_t first = pairs[i] & (Shard::MAX_ROWS - 1);
    if (number >= shards.size() || uint64_t{first} + pairs[i + 1] > shards[number]->rows()) {
      throw std::out_of_range("a range of the scope exceeds the chunks of its index");
    }
    rows[number].addRange(first, pairs[i + 1]);
  }
  return rows;
}

void Project::setScope(const std::string& id, const std::vector<ScopeRanges>& ranges) {
  auto scope = std::make_shared<Scope>();
  for (const ScopeRanges& entry : ranges) {
    const int slot = indexSlot(entry.dimension);
    const std::shared_ptr<Index> known = slot < 0 ? nullptr : index(slot);
    const Shards shards = known ? known->shards() : Shards();
    std::vector<BitmapBuilder> rows = rowsByShard(shards, entry.pairs);
    for (size_t number = 0; number < shards.size(); number++) {
      if (rows[number].pages().empty()) continue;
      scope->parts[static_cast<size_t>(slot)].push_back(freeze(shards[number], rows[number]));
    }
  }
  std::unique_lock lock(view_);
  scopes_[id] = std::move(scope);
}

void Project::replaceShard(int slot, std::shared_ptr<Shard> shard, const Scopes& scopes) {
  std::unique_lock lock(view_);
  indexes_[static_cast<size_t>(slot)]->replace(std::move(shard));
  for (const auto& [id, scope] : scopes) scopes_[id] = scope;
}

void Project::dropScope(const std::string& id) {
  std::unique_lock lock(view_);
  scopes_.erase(id);
}

Scopes Project::scopes() const {
  std::shared_lock lock(view_);
  return {scopes_.begin(), scopes_.end()};
}

uint64_t Project::scopeBytes() {
  uint64_t bytes = pages_.bytes();
  for (const auto& [id, scope] : scopes()) {
    bytes += sizeof(Scope) + id.size();
    for (const ScopeParts& parts : scope->parts) {
      for (const auto& part : parts) {
        // Per page, a bitmap holds a pointer to read it and a shared pointer to keep it alive.
        const size_t pages = part->rows.pageCount() + part->nodes.pageCount();
        bytes += sizeof(ScopePart) + pages * (sizeof(void*) + sizeof(std::shared_ptr<void>));
      }
    }
  }
  return bytes;
}

Registry& Registry::instance() {
  // Never destroyed, because worker threads may still search while the process exits.
  static Registry* registry = new Registry();
  return *registry;
}

std::shared_ptr<Project> Registry::open(const std::string& id) {
  std::unique_lock lock(mutex_);
  std::shared_ptr<Project>& project = projects_[id];
  if (!project) project = std::make_shared<Project>(id);
  return project;
}

std::shared_ptr<Project> Registry::find(const std::string& id) const {
  std::shared_lock lock(mutex_);
  const auto entry = projects_.find(id);
  return entry == projects_.end() ? nullptr : entry->second;
}

void Registry::replace(std::shared_ptr<Project> project) {
  std::unique_lock lock(mutex_);
  // The old project is destroyed outside the lock, because freeing much memory takes long.
  projects_[project->id()].swap(project);
  if (project) project->close();
  lock.unlock();
}

void Registry::drop(const std::string& id) {
  std::shared_ptr<Project> gone;
  std::unique_lock lock(mutex_);
  const auto entry = projects_.find(id);
  if (entry == projects_.end()) return;
  gone = std::move(entry->second);
  projects_.erase(entry);
  gone->close();
  lock.unlock();
}

std::vector<std::string> Registry::names() const {
  std::shared_lock lock(mutex_);
  std::vector<std::string> names;
  for (const auto& [id, project] : projects_) names.push_back(id);
  return names;
}

}  // namespace tessera
