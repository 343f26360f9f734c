#include "index/rerank.hpp"

#include <algorithm>

namespace tessera {

void rerankBy4BitCodes(const QuantizedIndex& quantized, const QuantizedQuery& query,
                       double minScore, size_t limit, std::vector<Candidate>& candidates) {
  static constexpr size_t AHEAD = 3;
  const Column& codes = quantized.codes4Bit;
  const size_t bytes = codes.rowBytes();
  for (size_t i = 0; i < candidates.size() && i < AHEAD; i++) {
    prefetch(codes.row(candidates[i].node), bytes);
  }
  for (size_t i = 0; i < candidates.size(); i++) {
    if (i + AHEAD < candidates.size()) prefetch(codes.row(candidates[i + AHEAD].node), bytes);
    Candidate& candidate = candidates[i];
    candidate.estimate = quantized.quantizer.estimate4Bit(query, codes.row(candidate.node));
  }
  std::sort(candidates.begin(), candidates.end(),
            [](const Candidate& a, const Candidate& b) { return a.estimate > b.estimate; });
  if (candidates.size() > limit) {
    // All of the `limit` best score at least this, and so does the last hit.
    const Candidate& last = candidates[limit - 1];
    const float lower = last.estimate - margin4Bit(quantized, query, last.node);
    minScore = std::max(minScore, static_cast<double>(lower));
  }
  while (!candidates.empty()) {
    const Candidate& worst = candidates.back();
    if (worst.estimate + margin4Bit(quantized, query, worst.node) >= minScore) break;
    candidates.pop_back();
  }
}

}  // namespace tessera
