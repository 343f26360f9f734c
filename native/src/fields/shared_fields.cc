#include "fields/shared_fields.hpp"

#include <mutex>
#include <utility>

namespace tessera {

SharedFields& SharedFields::instance() {
  // Never destroyed, because worker threads may still count while the process exits.
  static auto* shared = new SharedFields();
  return *shared;
}

void SharedFields::share(const std::string& project, std::shared_ptr<const FieldStore> store) {
  Shared shared{std::move(store), {}};
  std::unique_lock lock(mutex_);
  // The earlier fields are destroyed after the lock is released.
  std::swap(projects_[project], shared);
}

void SharedFields::drop(const std::string& project) {
  std::unique_lock lock(mutex_);
  const auto gone = projects_.extract(project);
  lock.unlock();
}

void SharedFields::setScope(const std::string& project, const std::string& scope, CountedScope counted) {
  std::unique_lock lock(mutex_);
  const auto known = projects_.find(project);
  if (known == projects_.end() || known->second.store != counted.store) return;
  known->second.scopes[scope] = std::move(counted);
}

void SharedFields::dropScope(const std::string& project, const std::string& scope) {
  std::unique_lock lock(mutex_);
  const auto known = projects_.find(project);
  if (known != projects_.end()) known->second.scopes.erase(scope);
}

std::optional<CountedScope> SharedFields::find(const std::string& project, const std::string* filtered) const {
  std::shared_lock lock(mutex_);
  const auto known = projects_.find(project);
  if (known == projects_.end()) return std::nullopt;
  const auto& [store, scopes] = known->second;
  if (filtered == nullptr) return CountedScope{store, nullptr};
  const auto counted = scopes.find(*filtered);
  return counted == scopes.end() ? std::nullopt : std::optional(counted->second);
}

std::vector<std::string> SharedFields::names() const {
  std::shared_lock lock(mutex_);
  std::vector<std::string> names;
  for (const auto& [project, shared] : projects_) names.push_back(project);
  return names;
}

size_t SharedFields::bytes(const std::string& project) const {
  std::shared_lock lock(mutex_);
  const auto known = projects_.find(project);
  if (known == projects_.end()) return 0;
  size_t bytes = 0;
  for (const auto& [scope, counted] : known->second.scopes) {
    bytes += scope.size() + sizeof counted + (counted.chunks ? 4 * counted.chunks->size() : 0);
  }
  return bytes;
}

}  // namespace tessera
