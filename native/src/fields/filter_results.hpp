// The file versions of a project that match a filter. Versions never change, so after a change of a scope only its new
// versions are evaluated.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "fields/evaluation.hpp"

namespace tessera {

class FilterResults {
 public:
  FilterResults(std::shared_ptr<const FieldStore> store, std::shared_ptr<const Condition> condition)
      : store_(std::move(store)), condition_(std::move(condition)), evaluation_(*condition_, condition_->usesMetadata()) {}

  /// Begins to evaluate the versions of a scope that have not been evaluated.
  void begin(NumberSet scope);
  /// Does a short step. True if all are evaluated.
  bool step();

  /// True if all versions of a scope have been evaluated.
  bool knows(NumberSet scope) const;
  /// The versions of a scope that match, or of which a chunk does, ascending.
  std::vector<uint32_t> versionsIn(NumberSet scope) const;
  /// The chunks that match; null if the chunks of a version either all match or all do not.
  const std::vector<uint32_t>* chunks() const { return condition_->usesMetadata() ? &matched_ : nullptr; }

 private:
  bool beginBlock();
  void endBlock();
  bool hasMatch(uint32_t version) const;

  std::shared_ptr<const FieldStore> store_;
  std::shared_ptr<const Condition> condition_;
  Evaluation evaluation_;
  /// Versions that have been evaluated.
  std::vector<uint32_t> known_;
  /// Versions that match, or chunks if the filter names metadata.
  std::vector<uint32_t> matched_;
  /// The versions to evaluate, and the block that is being evaluated or comes next.
  std::vector<uint32_t> open_;
  RowRange block_;
  uint32_t end_ = 0;
  bool isInBlock_ = false;
};

}  // namespace tessera
