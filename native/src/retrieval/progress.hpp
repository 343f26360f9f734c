// The state that the next page of a retrieval needs of earlier pages.
#pragma once
#include <string>
#include <string_view>

#include "text/page/returned_paths.hpp"

namespace tessera {

/// Earlier pages of a list: the returned paths, and the score of the last hit, which bounds the scores of later hits.
class RetrievalProgress {
 public:
  /// @param text output of `start` and `ReturnedPaths::append`; empty before the first page
  explicit RetrievalProgress(std::string_view text);

  /// Begins the text of the page after one that ends with this score.
  static std::string start(double score, std::string_view before);

  size_t size() const { return returned_.size(); }
  bool has(std::string_view key) const { return returned_.has(key); }
  /// The score of the last hit; 1 before the first page.
  double lastScore() const { return lastScore_; }

 private:
  ReturnedPaths returned_;
  double lastScore_ = 1;
};

}  // namespace tessera
