#include "common/version_key.hpp"

#include "common/keyed_hash.hpp"

namespace tessera {

VersionKey VersionKey::of(std::string_view versionId) {
  static const HashKey other = HashKey::random();
  return {keyedHash(versionId.data(), versionId.size()),
          keyedHash(versionId.data(), versionId.size(), other)};
}

}  // namespace tessera
