// Finding candidates by their codes and ranking them by their full vectors.
#pragma once
#include "bitmap.hpp"
#include "graph.hpp"
#include "index.hpp"
#include "kernels.hpp"
#include "prefetch.hpp"
#include "sketch.hpp"

namespace tessera {

/// Standard errors that an estimate is given before its candidate is passed over. The estimates are
/// close to normal: past three of them lies one in seven hundred.
inline constexpr float ERROR_MARGIN = 3.0f;

/// How far the fine estimate of a node may be from the truth.
inline float fineMargin(const Sketch& sketch, const CodedQuery& query, uint32_t node) {
  const float scale = sketch.book.factors(sketch.codes.row(node)).scale;
  return ERROR_MARGIN * Codebook::FINE_ERROR * scale * query.residual;
}

/// Scans codes and keeps every node whose estimate is within its error of the `limit` best ones, and
/// of the least score wanted: on spread-out data these are few, on crowded data as many as needed.
class CodeScan {
 public:
  CodeScan(const Sketch& sketch, const CodedQuery& query, size_t limit, double least,
           std::vector<Candidate>& kept);

  void add(uint32_t node) {
    const uint8_t* code = sketch_.codes.row(node);
    prefetch(code, sketch_.codes.rowBytes());
    nodes_[waiting_] = node;
    codes_[waiting_++] = code;
    if (waiting_ == BATCH) flush();
  }
  void finish();

 private:
  static constexpr size_t BATCH = 64;
  void flush();

  const Sketch& sketch_;
  const CodedQuery& query_;
  const size_t limit_;
  const float errorUnit_;
  /// The estimate, error included, that a node must reach.
  float bar_;
  /// The `limit` best estimates, a heap with the worst on top.
  std::vector<float> best_;
  std::vector<Candidate>& kept_;
  uint32_t nodes_[BATCH];
  const uint8_t* codes_[BATCH];
  size_t waiting_ = 0;
};

/// Puts candidates in order by their fine codes and leaves out those that can't reach the bar, as far
/// as an estimate can tell. `limit` good ones set a bar of their own.
void refineCandidates(const Sketch& sketch, const CodedQuery& query, double bar, size_t limit,
                      std::vector<Candidate>& candidates);

/// Computes the exact scores of refined candidates, best estimate first, as long as they may still
/// matter, and passes them on to `score(node, value)`. `bar()` tells what score matters.
template <typename Score, typename Bar>
void rankCandidates(const Index& index, const Sketch& sketch, const CodedQuery& query,
                    const float* vector, double inverseNorm, const std::vector<Candidate>& refined,
                    Score score, Bar bar) {
  const uint32_t dimension = index.dimension();
  const size_t bytes = dimension * sizeof(float);
  for (size_t i = 0; i < refined.size(); i++) {
    const uint32_t node = refined[i].node;
    if (refined[i].estimate + fineMargin(sketch, query, node) < bar()) continue;
    const float* row = index.vector(node);
    if (i + 1 < refined.size()) prefetch(index.vector(refined[i + 1].node), bytes);
    score(node, kernels().dot(vector, row, dimension) * inverseNorm * index.inverseNorm(node));
  }
}

}  // namespace tessera
