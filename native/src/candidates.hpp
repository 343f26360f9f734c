// Finding candidates by their codes and ranking them by their full vectors.
#pragma once
#include "bitmap.hpp"
#include "graph.hpp"
#include "index.hpp"
#include "sketch.hpp"

namespace tessera {

/// Offers the members of a bitmap from node `from` on to the pool, by estimate.
void scanCodes(const Sketch& sketch, const CodedQuery& query, const Bitmap& members, uint32_t from,
               Pool& pool);

/// Offers all nodes in [from, to).
void scanAllCodes(const Sketch& sketch, const CodedQuery& query, uint32_t from, uint32_t to,
                  Pool& pool);

/// Standard errors that an estimate is given before its candidate is passed over. The estimates are
/// close to normal: past three of them lies one in seven hundred.
inline constexpr float ERROR_MARGIN = 3.0f;

/// Computes the exact score of the candidates, best estimate first, as long as they may still matter,
/// and passes it on to `score(node, value)`. `bar()` tells what score matters.
template <typename Score, typename Bar>
void rankCandidates(const Index& index, const Sketch& sketch, const CodedQuery& query,
                    const float* vector, double inverseNorm, const std::vector<Candidate>& sorted,
                    Score score, Bar bar) {
  static constexpr size_t AHEAD = 2;
  static constexpr size_t CACHE_LINE = 64;
  const uint32_t dimension = index.dimension();
  const float errorUnit = ERROR_MARGIN * sketch.book.errorFactor() * query.residual;
  const auto prefetch = [&](size_t position) {
    if (position >= sorted.size()) return;
    const char* row = reinterpret_cast<const char*>(index.vector(sorted[position].node));
    for (size_t at = 0; at < dimension * sizeof(float); at += CACHE_LINE) {
      __builtin_prefetch(row + at);
    }
  };
  for (size_t ahead = 0; ahead < AHEAD; ahead++) prefetch(ahead);
  for (size_t i = 0; i < sorted.size(); i++) {
    const Candidate& candidate = sorted[i];
    const float error = errorUnit * sketch.book.factors(sketch.codes.row(candidate.node)).scale;
    if (candidate.estimate + error < bar()) continue;
    prefetch(i + AHEAD);
    const double dot = kernels().dot(vector, index.vector(candidate.node), dimension);
    score(candidate.node, dot * inverseNorm * index.inverseNorm(candidate.node));
  }
}

}  // namespace tessera
