#include "retrieval/fusion.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/kernels.hpp"

namespace tessera {

namespace {

/// The weight of the vectors when the items are ranked for the first time, and with feedback.
constexpr double FIRST_WEIGHT = 0.3;
constexpr double FEEDBACK_WEIGHT = 0.7;
/// How often the best items give feedback, how many of them, and its weight beside the query.
constexpr int FEEDBACK_ROUNDS = 2;
constexpr size_t FEEDBACK_ITEMS = 4;
constexpr double FEEDBACK_SHARE = 4;
/// How fast the weight of feedback falls with the score of the item.
constexpr double FEEDBACK_DECAY = 0.8;
/// Shares of the query's maximum score between which a best text makes the vectors count less and less.
constexpr double NAMED_FROM = 1;
constexpr double NAMED_TO = 2.25;

struct Statistics {
  double mean = 0;
  double deviation = 0;

  /// The number of deviations by which a value is above the mean.
  double standard(double value) const { return deviation > 0 ? (value - mean) / deviation : 0; }
};

Statistics statisticsOf(double count, double sum, double squares) {
  if (count == 0) return {};
  const double mean = sum / count;
  // A difference below this is an effect of rounding.
  const double variance = squares / count - mean * mean;
  return {mean, variance > 1e-12 * squares / count ? std::sqrt(variance) : 0};
}

/// The scores of the best texts; missing ones count as 0.
Statistics ofKeywords(std::span<const FusedItem> items) {
  std::vector<double> scores;
  for (const FusedItem& item : items) if (item.keyword > 0) scores.push_back(item.keyword);
  std::ranges::sort(scores, std::greater());
  if (scores.size() > FUSED_FILES) scores.resize(FUSED_FILES);
  double sum = 0, squares = 0;
  for (const double score : scores) {
    sum += score;
    squares += score * score;
  }
  return statisticsOf(FUSED_FILES, sum, squares);
}

class Fusion {
 public:
  Fusion(std::span<FusedItem> items, double named, uint32_t dimension)
      : items_(items), dimension_(dimension), keywords_(ofKeywords(items)), named_(named) {
    similarities_.reserve(items.size());
    for (const FusedItem& item : items) similarities_.push_back(item.cosine);
  }

  void run() {
    score(FIRST_WEIGHT);
    for (int round = 0; round < FEEDBACK_ROUNDS && gatherFeedback(); round++) {
      for (size_t i = 0; i < items_.size(); i++) {
        if (items_[i].vector == nullptr) continue;
        const double near = kernels().dot(items_[i].vector, feedback_.data(), dimension_);
        similarities_[i] = items_[i].cosine + FEEDBACK_SHARE * near * items_[i].inverseNorm;
      }
      score(FEEDBACK_WEIGHT);
    }
  }

 private:
  void score(double weight) {
    const double share = weight * (1 - named_);
    const Statistics vectors = ofVectors();
    for (size_t i = 0; i < items_.size(); i++) {
      FusedItem& item = items_[i];
      const double similar = item.vector == nullptr ? 0 : vectors.standard(similarities_[i]);
      item.score = share * similar + (1 - share) * keywords_.standard(item.keyword);
    }
  }

  Statistics ofVectors() const {
    double count = 0, sum = 0, squares = 0;
    for (size_t i = 0; i < items_.size(); i++) {
      if (!items_[i].counts || items_[i].vector == nullptr) continue;
      count++;
      sum += similarities_[i];
      squares += similarities_[i] * similarities_[i];
    }
    return statisticsOf(count, sum, squares);
  }

  /// The direction of the best items; false if none of them has a vector.
  bool gatherFeedback() {
    std::vector<const FusedItem*> best;
    for (const FusedItem& item : items_) {
      if (item.counts && item.vector != nullptr) best.push_back(&item);
    }
    if (best.empty()) return false;
    const size_t count = std::min(FEEDBACK_ITEMS, best.size());
    // Equal items keep their order, which the caller has decided.
    const auto before = [](const FusedItem* a, const FusedItem* b) {
      return a->score != b->score ? a->score > b->score : a < b;
    };
    std::ranges::partial_sort(best, best.begin() + static_cast<ptrdiff_t>(count), before);
    feedback_.assign(dimension_, 0);
    for (size_t b = 0; b < count; b++) {
      const double decay = std::exp(FEEDBACK_DECAY * (best[b]->score - best[0]->score));
      const auto weight = static_cast<float>(decay * best[b]->inverseNorm);
      for (uint32_t i = 0; i < dimension_; i++) feedback_[i] += weight * best[b]->vector[i];
    }
    const double squared = kernels().dot(feedback_.data(), feedback_.data(), dimension_);
    if (!(squared > 0)) return false;
    const auto scale = static_cast<float>(1 / std::sqrt(squared));
    for (float& element : feedback_) element *= scale;
    return true;
  }

  std::span<FusedItem> items_;
  const uint32_t dimension_;
  const Statistics keywords_;
  const double named_;
  /// The score of each item: its cosine, and with feedback more.
  std::vector<double> similarities_;
  std::vector<float> feedback_;
};

}  // namespace

void fuse(std::span<FusedItem> items, double best, double maxScore, uint32_t dimension) {
  const double share = maxScore > 0 ? best / maxScore : 0;
  const double named = std::clamp((share - NAMED_FROM) / (NAMED_TO - NAMED_FROM), 0.0, 1.0);
  Fusion(items, named, dimension).run();
  for (FusedItem& item : items) item.score = 1 / (1 + std::exp(-item.score));
}

double keywordScore(double keyword, double maxScore) { return keyword / (keyword + maxScore); }

}  // namespace tessera
