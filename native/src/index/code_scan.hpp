// Finding candidates by a scan of their 1-bit codes.
#pragma once
#include <vector>

#include "common/prefetch.hpp"
#include "index/quantized_index.hpp"

namespace tessera {

/// How far estimates may err, in standard errors.
struct ErrorBounds {
  /// Distance below the `limit`-th best estimate within which a node is kept. The best of many estimates tend to err
  /// upwards, so the window is wider than the margin. Reranking narrows it.
  float window;
  /// Error by which an estimate may be too low.
  float margin;
};
/// With a margin of 2.5, the best 50 of a search for 50 and of a search for 100 differed in one of thirty scans. Its
/// cost was not measurably lower.
inline constexpr ErrorBounds ORDINARY_ERRORS{4.5f, 4.0f};
/// The codes of a tight cluster are nearly equal, and so are their errors. The errors of two clusters on opposite
/// sides of the centre even have opposite signs.
inline constexpr ErrorBounds CROWDED_ERRORS{6.5f, 4.5f};

/// Keeps every scanned node whose estimate, give or take its error, is among the `limit` best and
/// not below the minimum score. On spread-out data it keeps few nodes, on crowded data as many as needed. The
/// estimates of the kept candidates are upper bounds.
class CodeScan {
 public:
  CodeScan(const QuantizedIndex& quantized, const QuantizedQuery& query, size_t limit,
           double minScore, std::vector<Candidate>& kept, ErrorBounds bounds = ORDINARY_ERRORS);

  void add(uint32_t node) {
    const uint8_t* code = quantized_.codes1Bit.row(node);
    prefetch(code, quantized_.codes1Bit.rowBytes());
    nodes_[waiting_] = node;
    codes_[waiting_++] = code;
    if (waiting_ == BATCH) flush();
  }
  /// True when the best estimates are closer to each other than independent errors leave them. Called
  /// after the last node and before `finish`.
  bool isCrowded();
  void finish();

 private:
  static constexpr size_t BATCH = 64;
  void flush();
  float scaleOf(const Candidate& entry) const;

  const QuantizedIndex& quantized_;
  const QuantizedQuery& query_;
  const size_t limit_;
  /// The standard error of an estimate, divided by the scale of its code.
  const float error_;
  /// The bounds of this query's errors, to be multiplied by the scale of a code.
  const float window_;
  const float margin_;
  /// A node is kept when its estimate plus its window reaches this.
  float minEstimate_;
  /// The `limit` best estimates: a heap with the lowest on top.
  std::vector<float> best_;
  std::vector<Candidate>& kept_;
  uint32_t nodes_[BATCH];
  const uint8_t* codes_[BATCH];
  size_t waiting_ = 0;
};

}  // namespace tessera
