#include "retrieval/fusion.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/kernels.hpp"

namespace tessera {

namespace {

/// The weight of the vectors in the first ranking, and its bounds in rankings with feedback: the least without
/// agreement of the vectors and the texts, the most with full agreement.
constexpr double FIRST_WEIGHT = 0.3;
constexpr double FEEDBACK_WEIGHT_MIN = 0.33;
constexpr double FEEDBACK_WEIGHT_MAX = 0.65;
/// The agreements at which that weight is the least and the most, in standard deviations of the cosines, and the
/// number of best texts that are compared.
constexpr double AGREEMENT_NONE = 0.5;
constexpr double AGREEMENT_FULL = 1.25;
constexpr size_t AGREEMENT_TEXTS = 10;
/// Rounds of feedback, the number of best items that give it, and its weight relative to the query.
constexpr int FEEDBACK_ROUNDS = 2;
constexpr size_t FEEDBACK_ITEMS = 4;
constexpr double FEEDBACK_SHARE = 6;
/// Exponential decay of an item's weight with the distance of its score from the best one.
constexpr double FEEDBACK_DECAY = 0.8;
/// Shares of the whole query that the best text covers. Between them, the weight of the vectors falls to 0.
constexpr double EXACT_MATCH_FROM = 1;
constexpr double EXACT_MATCH_TO = 2.25;
/// The least standard deviation of the texts' scores, as a share of the whole query. It keeps words that all
/// candidates hold, which hardly distinguish them, from deciding the order.
constexpr double COVER_DEVIATION_MIN = 0.01;
/// The score of a text that holds all words of the query at maximum frequency, but not together.
constexpr double WHOLE_QUERY_SCORE = 0.8;
/// How fast the score of a vector grows with its cosine.
constexpr double MEANING_GROWTH = 1.6;

/// The score of a text that holds all words of the query, including words without a document.
double wholeScoreOf(const TextQuery& query) { return query.maxScore + query.missingScore; }

/// The score of a text that covers this share of the query: more than 1 if it has bonuses, too.
double wordsScoreOf(double cover) {
  if (cover <= 1) return WHOLE_QUERY_SCORE * std::sqrt(std::max(cover, 0.0));
  return 1 - (1 - WHOLE_QUERY_SCORE) * std::exp(1 - cover);
}

/// The score of an item by its weighted mean of cosine and share of the query: at most that of a text that holds
/// all words.
double meaningScoreOf(double mean) {
  const double grown = 1 - std::exp(-MEANING_GROWTH * std::clamp(mean, 0.0, 1.0));
  return WHOLE_QUERY_SCORE * grown / (1 - std::exp(-MEANING_GROWTH));
}

}  // namespace

Fusion::Statistics Fusion::statisticsOf(double count, double sum, double squares) {
  if (count == 0) return {};
  const double mean = sum / count;
  // A smaller variance is a rounding error.
  const double variance = squares / count - mean * mean;
  return {mean, variance > 1e-12 * squares / count ? std::sqrt(variance) : 0};
}

/// The scores of the best texts; missing ones count as 0.
Fusion::Statistics Fusion::ofKeywords(std::span<const FusedItem> items) const {
  std::vector<double> scores;
  for (const FusedItem& item : items) if (item.keyword > 0) scores.push_back(item.keyword);
  std::ranges::sort(scores, std::greater());
  if (scores.size() > FUSED_FILES) scores.resize(FUSED_FILES);
  double sum = 0, squares = 0;
  for (const double score : scores) {
    sum += score;
    squares += score * score;
  }
  Statistics found = statisticsOf(FUSED_FILES, sum, squares);
  if (found.deviation > 0) found.deviation = std::max(found.deviation, COVER_DEVIATION_MIN * wholeScore_);
  return found;
}

Fusion::Fusion(std::span<FusedItem> items, double best, const TextQuery& query, uint32_t dimension)
    : items_(items), wholeScore_(wholeScoreOf(query)), dimension_(dimension), keywords_(ofKeywords(items)) {
  const double share = wholeScore_ > 0 ? best / wholeScore_ : 0;
  exactMatchShare_ = std::clamp((share - EXACT_MATCH_FROM) / (EXACT_MATCH_TO - EXACT_MATCH_FROM), 0.0, 1.0);
  if (query.maxScore > 0) termCoverage_ = std::sqrt(query.maxScore / wholeScore_);
  similarities_.reserve(items.size());
  for (const FusedItem& item : items) similarities_.push_back(item.cosine);
  cosines_ = ofVectors();
  score(FIRST_WEIGHT);
  const double agreed = (agreement() - AGREEMENT_NONE) / (AGREEMENT_FULL - AGREEMENT_NONE);
  const double weight = std::lerp(FEEDBACK_WEIGHT_MIN, FEEDBACK_WEIGHT_MAX, std::clamp(agreed, 0.0, 1.0));
  for (int round = 0; round < FEEDBACK_ROUNDS && gatherFeedback(); round++) {
    for (size_t i = 0; i < items_.size(); i++) {
      if (items_[i].vector != nullptr) similarities_[i] = similarityOf(items_[i]);
    }
    score(weight);
  }
  setScale();
  for (size_t i = 0; i < items_.size(); i++) {
    FusedItem& item = items_[i];
    item.rank = mean(item, similarities_[i]);
    item.score = std::max(meaningScoreOf(item.rank), wordsScoreOf(coverOf(item)));
  }
}

double Fusion::scoreOf(const FusedItem& item) const {
  const double own = mean(item, item.vector == nullptr ? 0 : similarityOf(item));
  return std::max(meaningScoreOf(own), wordsScoreOf(coverOf(item)));
}

/// How far the cosines of the best texts are above the average, in standard deviations: the rating of the texts
/// by the vectors. A better text counts more.
double Fusion::agreement() const {
  double sum = 0, weights = 0;
  size_t count = 0;
  for (const FusedItem& item : items_) {
    if (item.keyword <= 0 || count++ == AGREEMENT_TEXTS) break;
    const double behind = keywords_.standard(item.keyword) - keywords_.standard(items_[0].keyword);
    const double weight = std::exp(FEEDBACK_DECAY * behind);
    weights += weight;
    if (item.vector != nullptr) sum += weight * cosines_.standard(item.cosine);
  }
  return weights > 0 ? sum / weights : 0;
}

/// Sets the weights of a cosine and a share of the query to those in the standardised scores, which keeps the order.
void Fusion::setScale() {
  cosineWeight_ = vectorWeight_;
  coverWeight_ = 1 - vectorWeight_;
  if (cosines_.deviation <= 0 || keywords_.deviation <= 0) return;
  const double cosine = vectorWeight_ / cosines_.deviation;
  const double cover = (1 - vectorWeight_) * wholeScore_ / keywords_.deviation;
  cosineWeight_ = cosine / (cosine + cover);
  coverWeight_ = cover / (cosine + cover);
}

/// The weighted mean of the cosine of an item, spread by feedback, and of the share of the query that its text covers.
double Fusion::mean(const FusedItem& item, double similarity) const {
  const double similar = item.vector == nullptr ? 0 : vectors_.standard(similarity);
  const double cosine = cosines_.mean + cosines_.deviation * similar;
  return cosineWeight_ * cosine + coverWeight_ * coverOf(item);
}

/// The share of the query that the text of an item covers: more than 1 if it has bonuses, too.
double Fusion::coverOf(const FusedItem& item) const {
  return wholeScore_ > 0 ? item.keyword / wholeScore_ : 0;
}

double Fusion::similarityOf(const FusedItem& item) const {
  if (feedback_.empty()) return item.cosine;
  const double near = kernels().dot(item.vector, feedback_.data(), dimension_);
  return item.cosine + FEEDBACK_SHARE * near * item.inverseNorm;
}

double Fusion::standardised(const FusedItem& item, double similarity) const {
  const double similar = item.vector == nullptr ? 0 : vectors_.standard(similarity);
  return vectorWeight_ * similar + (1 - vectorWeight_) * keywords_.standard(item.keyword);
}

void Fusion::score(double weight) {
  vectorWeight_ = (1 - (1 - weight) * termCoverage_) * (1 - exactMatchShare_);
  vectors_ = ofVectors();
  for (size_t i = 0; i < items_.size(); i++) {
    items_[i].score = standardised(items_[i], similarities_[i]);
  }
}

Fusion::Statistics Fusion::ofVectors() const {
  double count = 0, sum = 0, squares = 0;
  for (size_t i = 0; i < items_.size(); i++) {
    if (!items_[i].counts || items_[i].vector == nullptr) continue;
    count++;
    sum += similarities_[i];
    squares += similarities_[i] * similarities_[i];
  }
  return statisticsOf(count, sum, squares);
}

/// Computes the direction of the best items. Returns false if no item has a vector.
bool Fusion::gatherFeedback() {
  std::vector<const FusedItem*> best;
  for (const FusedItem& item : items_) {
    if (item.counts && item.vector != nullptr) best.push_back(&item);
  }
  if (best.empty()) return false;
  const size_t count = std::min(FEEDBACK_ITEMS, best.size());
  // Equal items keep the order of the caller.
  const auto before = [](const FusedItem* a, const FusedItem* b) {
    return a->score != b->score ? a->score > b->score : a < b;
  };
  std::ranges::partial_sort(best, best.begin() + static_cast<ptrdiff_t>(count), before);
  std::vector<float> sum(dimension_, 0);
  for (size_t b = 0; b < count; b++) {
    const double decay = std::exp(FEEDBACK_DECAY * (best[b]->score - best[0]->score));
    const auto weight = static_cast<float>(decay * best[b]->inverseNorm);
    for (uint32_t i = 0; i < dimension_; i++) sum[i] += weight * best[b]->vector[i];
  }
  const double squared = kernels().dot(sum.data(), sum.data(), dimension_);
  if (!(squared > 0)) return false;
  const auto scale = static_cast<float>(1 / std::sqrt(squared));
  for (float& element : sum) element *= scale;
  feedback_ = std::move(sum);
  return true;
}

double keywordScore(double keyword, const TextQuery& query) {
  const double whole = wholeScoreOf(query);
  return whole > 0 ? wordsScoreOf(keyword / whole) : 0;
}

}  // namespace tessera
