// Fuses what the text and the vectors of files say about a query.
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
  /// The vector that is most similar to the query; null if it has none.
  const float* vector = nullptr;
  double inverseNorm = 0;
  /// The cosine of the vector and the query.
  double cosine = 0;
  /// Whether it is one of the candidates that statistics are taken over. A further chunk of a file that is
  /// one itself is not, so that a file counts once.
  bool counts = true;
  /// What puts items in order.
  double rank = 0;
  /// 0 to 1.
  double score = 0;
};

/// Scores items by text and vector.
///
/// Both kinds of scores are standardised over the candidates and added. The vector is asked twice more,
/// together with those of the best items so far: what most of them are about is what the query is about
/// (Rocchio's feedback). The vectors count as much as they agree with the texts: by how far the best texts are above
/// the average cosine. Words of the query that no document holds lower the weight of the texts. If the best text repeats
/// the query as a title or a phrase, the query names what it looks for, and the vectors decide nothing.
///
/// The sum puts the items in order. The score is on a scale that is the same for all queries: that of the same sum of the
/// cosine and of the share of the query that a text covers, where feedback counts by how it spreads the cosines, or that
/// of the text alone if it is higher. So a vector, or the lack of it, never takes from what the words earn.
class Fusion {
 public:
  /// Scores the items.
  ///
  /// @param best the highest score of a text
  /// @param query whose greatest score those have exceeded that have bonuses
  /// @param dimension that of the vectors
  Fusion(std::span<FusedItem> items, double best, const TextQuery& query, uint32_t dimension);

  /// The score that an item would have among them.
  double scoreOf(const FusedItem& item) const;

 private:
  struct Statistics {
    double mean = 0;
    double deviation = 0;

    /// The number of deviations by which a value is above the mean.
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
  /// The score of a text that has all words of the query.
  const double wholeScore_;
  const uint32_t dimension_;
  const Statistics keywords_;
  double named_ = 0;
  /// By how much the texts' weight is lowered, because no document holds some words of the query: a text that has
  /// all others may be about something else.
  double trust_ = 1;
  /// Of the cosines, and of the similarities.
  Statistics cosines_;
  Statistics vectors_;
  /// The weight of the vectors.
  double share_ = 0;
  /// The same for a cosine and the share that a text covers of the query; together 1.
  double cosineWeight_ = 0;
  double coverWeight_ = 1;
  /// The score of each item: its cosine, and with feedback more.
  std::vector<double> similarities_;
  /// Empty without feedback.
  std::vector<float> feedback_;
};

/// The score of an item that only its text was found by, from 0 to 1: up to 0.8 for one that has all words of the
/// query, and more for one that has them close together, or as a title.
double keywordScore(double keyword, const TextQuery& query);

}  // namespace tessera
