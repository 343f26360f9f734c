#include "index/code_scan.hpp"

#include <algorithm>
#include <functional>

namespace tessera {

/// Standard errors below the `limit`-th best estimate within which a node is kept. Of many estimates the
/// best are those that err upwards, so this is wider than ERROR_MARGIN; reranking narrows it.
static constexpr float SCAN_WINDOW = 4.5f;

CodeScan::CodeScan(const QuantizedIndex& quantized, const QuantizedQuery& query, size_t limit,
                   double minScore, std::vector<Candidate>& kept)
    : quantized_(quantized),
      query_(query),
      limit_(limit),
      window_(SCAN_WINDOW * RabitqQuantizer::ERROR_1BIT * query.residualLength),
      minEstimate_(static_cast<float>(minScore)),
      kept_(kept) {
  kept_.clear();
  best_.reserve(limit + 1);
}

void CodeScan::flush() {
  float estimates[BATCH];
  quantized_.quantizer.estimate1Bit(query_, codes_, waiting_, estimates);
  for (size_t i = 0; i < waiting_; i++) {
    const float upper =
        estimates[i] + window_ * quantized_.quantizer.factors1Bit(codes_[i]).scale;
    if (!(upper >= minEstimate_)) continue;
    kept_.push_back({estimates[i], nodes_[i], false});
    if (best_.size() == limit_ && estimates[i] <= best_.front()) continue;
    best_.push_back(estimates[i]);
    std::push_heap(best_.begin(), best_.end(), std::greater<>());
    if (best_.size() > limit_) {
      std::pop_heap(best_.begin(), best_.end(), std::greater<>());
      best_.pop_back();
    }
    if (best_.size() == limit_) minEstimate_ = std::max(minEstimate_, best_.front());
  }
  waiting_ = 0;
}

void CodeScan::finish() {
  flush();
  const float margin =
      RabitqQuantizer::ERROR_MARGIN * RabitqQuantizer::ERROR_1BIT * query_.residualLength;
  std::erase_if(kept_, [&](Candidate& entry) {
    const float scale = quantized_.quantizer.factors1Bit(quantized_.codes1Bit.row(entry.node)).scale;
    const bool excluded = entry.estimate + window_ * scale < minEstimate_;
    entry.estimate += margin * scale;
    return excluded;
  });
}

}  // namespace tessera
