// Reranking candidates: first by their 3-bit codes, then by their full vectors.
#pragma once
#include <vector>

#include "common/cosine.hpp"
#include "common/prefetch.hpp"
#include "index/quantized_index.hpp"
#include "kernels/kernels.hpp"

namespace tessera {

/// Replaces the upper bounds of candidates by the estimates of their 3-bit codes, and sorts them, best first. Removes
/// candidates that, error margin included, are below `minScore` or the `limit` best. The margin is in standard
/// errors. Returns the number of 3-bit codes that it read, because it stops at bounds that are too low.
size_t rerankBy3BitCodes(const QuantizedIndex& quantized, const QuantizedQuery& query, float margin,
                         double minScore, size_t limit, std::vector<Candidate>& candidates);

/// Computes the exact cosine of each candidate and passes it to `score(node, cosine)`. Skips those
/// whose estimate, error margin included, is below `minScore()`, which may rise meanwhile. `candidates` is the output
/// of `rerankBy3BitCodes` with the same margin. `inverseNorm` is one over the length of `vector`.
template <typename Score, typename MinScore>
void rerankByVectors(const VectorTable& vectors, const QuantizedIndex& quantized,
                     const QuantizedQuery& query, float margin, const float* vector,
                     double inverseNorm, const std::vector<Candidate>& candidates, Score score, MinScore minScore) {
  const uint32_t dimension = vectors.dimension();
  if (!candidates.empty()) vectors.prefetchVector(candidates[0].node);
  for (size_t i = 0; i < candidates.size(); i++) {
    const uint32_t node = candidates[i].node;
    const float error = quantized.quantizer.error3Bit(query, quantized.codes1Bit.row(node));
    if (candidates[i].estimate + margin * error < minScore()) continue;
    const float* row = vectors.vector(node);
    if (i + 1 < candidates.size()) vectors.prefetchVector(candidates[i + 1].node);
    const double dot = kernels().dot(vector, row, dimension);
    score(node, cosineOf(dot, inverseNorm, vectors.inverseNorm(node)));
  }
}

}  // namespace tessera
