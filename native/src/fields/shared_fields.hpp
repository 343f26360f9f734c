// The fields of projects as facets count them. The thread that indexes shares them with those that answer.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/keyed_hash.hpp"
#include "fields/field_store.hpp"

namespace tessera {

/// The fields of a scope that facets are counted in, and its chunks.
struct CountedScope {
  std::shared_ptr<const FieldStore> store;
  /// Null for all chunks of the versions that are counted.
  std::shared_ptr<const std::vector<uint32_t>> chunks;
};

/// The fields of the projects of the process, by the names of their registry.
class SharedFields {
 public:
  static SharedFields& instance();
  /// Shares the fields of a project in place of earlier ones, whose numbers its filtered scopes have.
  void share(const std::string& project, std::shared_ptr<const FieldStore> store);
  void drop(const std::string& project);
  /// The chunks of a filtered scope of a project. Without effect unless its fields are shared.
  void setScope(const std::string& project, const std::string& scope, CountedScope counted);
  void dropScope(const std::string& project, const std::string& scope);
  /// Nothing unless the project is shared, and for a filtered scope that was not set since.
  ///
  /// @param filtered the filtered scope; null for any other
  std::optional<CountedScope> find(const std::string& project, const std::string* filtered) const;
  std::vector<std::string> names() const;
  /// Memory of the chunks of a project's filtered scopes, in bytes.
  size_t bytes(const std::string& project) const;

 private:
  struct Shared {
    std::shared_ptr<const FieldStore> store;
    std::map<std::string, CountedScope> scopes;
  };

  mutable std::shared_mutex mutex_;
  std::unordered_map<std::string, Shared, KeyedHash> projects_;
};

}  // namespace tessera
