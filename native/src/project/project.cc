#include "project/project.hpp"

#include <stdexcept>

namespace tessera {

std::shared_ptr<Index> Project::index(int slot) const {
  std::shared_lock lock(view_);
  return indexes_[static_cast<size_t>(slot)];
}

std::shared_ptr<Index> Project::openIndex(int slot) {
  std::unique_lock lock(view_);
  std::shared_ptr<Index>& index = indexes_[static_cast<size_t>(slot)];
  if (!index) index = std::make_shared<Index>(DIMENSIONS[slot]);
  return index;
}

std::shared_ptr<const Scope> Project::scope(const std::string& id) const {
  std::shared_lock lock(view_);
  const auto entry = scopes_.find(id);
  return entry == scopes_.end() ? nullptr : entry->second;
}

std::unique_ptr<ScopePart> Project::freeze(std::shared_ptr<const Index> index,
                                           BitmapBuilder& ordinals) {
  auto part = std::make_unique<ScopePart>();
  part->ordinals = pages_.freeze(ordinals);
  BitmapBuilder nodes;
  part->ordinals.forEach(0, [&](uint32_t ordinal) { nodes.add(index->nodeOf(ordinal)); });
  part->nodes = pages_.freeze(nodes);
  part->index = std::move(index);
  return part;
}

void Project::setScope(const std::string& id, const std::vector<ScopeRanges>& ranges) {
  std::array<BitmapBuilder, DIMENSION_COUNT> builders;
  auto scope = std::make_shared<Scope>();
  for (const ScopeRanges& entry : ranges) {
    const int slot = dimensionSlot(entry.dimension);
    const std::shared_ptr<Index> known = slot < 0 ? nullptr : index(slot);
    const uint64_t ordinals = known ? known->ordinals() : 0;
    for (size_t i = 0; i + 1 < entry.pairs.size(); i += 2) {
      if (uint64_t{entry.pairs[i]} + entry.pairs[i + 1] > ordinals) {
        throw std::out_of_range("a range of the scope exceeds the chunks of its index");
      }
      builders[static_cast<size_t>(slot < 0 ? 0 : slot)].addRange(entry.pairs[i],
                                                                  entry.pairs[i + 1]);
    }
  }
  for (size_t slot = 0; slot < DIMENSION_COUNT; slot++) {
    if (builders[slot].pages().empty()) continue;
    scope->parts[slot] = freeze(index(static_cast<int>(slot)), builders[slot]);
  }
  std::unique_lock lock(view_);
  scopes_[id] = std::move(scope);
}

void Project::dropScope(const std::string& id) {
  std::unique_lock lock(view_);
  scopes_.erase(id);
}

std::map<std::string, std::shared_ptr<const Scope>> Project::scopes() const {
  std::shared_lock lock(view_);
  return {scopes_.begin(), scopes_.end()};
}

uint64_t Project::scopeBytes() {
  uint64_t bytes = pages_.bytes();
  for (const auto& [id, scope] : scopes()) {
    bytes += sizeof(Scope) + id.size();
    for (const auto& part : scope->parts) {
      if (!part) continue;
      // Per page, a bitmap holds a pointer to read it and a shared pointer to keep it alive.
      const size_t pages = part->ordinals.pageCount() + part->nodes.pageCount();
      bytes += sizeof(ScopePart) + pages * (sizeof(void*) + sizeof(std::shared_ptr<void>));
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
  lock.unlock();
}

void Registry::drop(const std::string& id) {
  std::shared_ptr<Project> gone;
  std::unique_lock lock(mutex_);
  const auto entry = projects_.find(id);
  if (entry == projects_.end()) return;
  gone = std::move(entry->second);
  projects_.erase(entry);
  lock.unlock();
}

std::vector<std::string> Registry::names() const {
  std::shared_lock lock(mutex_);
  std::vector<std::string> names;
  for (const auto& [id, project] : projects_) names.push_back(id);
  return names;
}

}  // namespace tessera
