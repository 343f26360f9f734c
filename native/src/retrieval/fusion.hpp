// Fuses the text scores and the vector scores of files for a query.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "text/segment/text_query.hpp"

namespace tessera {

/// Candidates by text and by vector. Statistics are taken over this many, so that they do not depend on how
/// many are wanted. Further chunks that only the vector finds do not change the best results.
inline constexpr size_t FUSED_FILES = 50;
inline constexpr size_t FUSED_CHUNKS = 12;

/// A file or a chunk that may answer a query.
struct FusedItem {
  /// The score of its text; 0 if that does not match.
  double keyword = 0;
  /// The vector that is most similar to the query; null for an item without vectors.
  const float* vector = nullptr;
  double inverseNorm = 0;
  /// The cosine of the vector and the query.
  double cosine = 0;
  /// Whether the statistics include the item. They exclude further chunks of an included file, so that a file
  /// counts once.
  bool counts = true;
  /// The sort key of the items.
  double rank = 0;
  /// 0 to 1.
  double score = 0;
};

/// Scores items by text and vector.
///
/// Both kinds of scores are standardised over the candidates and added. Two more rounds add a weighted mean vector of
/// the best items so far to the vector of the query, because the topic of most of them is the topic of the query
/// (Rocchio's feedback). The weight of the vectors grows with their agreement with the texts: how far the best texts
/// are above the average cosine. Words without a document lower the weight of the texts. If the best text repeats the
/// query as a title or a phrase, the query is a known-item search, and the weight of the vectors is 0.
///
/// The items are sorted by the sum. The score has the same scale for all queries. It is computed from the weighted
/// mean of the cosine, spread by feedback, and the share of the query that a text covers, or from the text alone if
/// that score is higher. So neither a vector nor a missing vector lowers the score of the words.
class Fusion {
 public:
  /// Scores the items.
  ///
  /// @param best the highest score of a text
  /// @param query plan of the query; a text with bonuses scores more than its `maxScore`
  /// @param dimension dimension of the vectors
  Fusion(std::span<FusedItem> items, double best, const TextQuery& query, uint32_t dimension);

  /// The score that a further item would have.
  double scoreOf(const FusedItem& item) const;

 private:
  struct Statistics {
    double mean = 0;
    double deviation = 0;

    /// The number of standard deviations by which a value is above the mean.
    double standard(double value) const { return deviation > 0 ? (value - mean) / deviation : 0; }
  };

  static Statistics statisticsOf(double count, double sum, double squares);
  Statistics ofKeywords(std::span<const FusedItem> items) const;
  Statistics ofVectors() const;
  double agreement() const;
  void score(double weight);
  bool gatherFeedback();
  double similarityOf(const FusedItem& item) const;
  double standardised(const FusedItem& item, double similarity) const;
  void setScale();
  double mean(const FusedItem& item, double similarity) const;
  double coverOf(const FusedItem& item) const;

  const std::span<FusedItem> items_;
  /// The score of a text that holds all words of the query.
  const double wholeScore_;
  const uint32_t dimension_;
  const Statistics keywords_;
  double exactMatchShare_ = 0;
  /// Factor of the texts' weight. It is lower if some words of the query have no document, because a text that holds
  /// all other words may be about another topic.
  double termCoverage_ = 1;
  /// Of the cosines, and of the similarities.
  Statistics cosines_;
  Statistics vectors_;
  /// The weight of the vectors.
  double vectorWeight_ = 0;
  /// The weights of a cosine and of the share of the query that a text covers; their sum is 1.
  double cosineWeight_ = 0;
  double coverWeight_ = 1;
  /// The similarity of each item: its cosine, plus its product with the feedback.
  std::vector<double> similarities_;
  /// Empty without feedback.
  std::vector<float> feedback_;
};

/// The score of an item that matches only by text, from 0 to 1: up to 0.8 for a text with all words of the query,
/// and more if they are close together or are a title.
double keywordScore(double keyword, const TextQuery& query);

}  // namespace tessera
