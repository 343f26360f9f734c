#include "index/code_scan.hpp"

#include <algorithm>
#include <functional>

namespace tessera {

/// Most candidates of a scan. It takes effect on data that is all alike, where the error margins
/// exclude nothing.
static constexpr size_t MAX_SCAN_CANDIDATES = 4096;

CodeScan::CodeScan(const QuantizedIndex& quantized, const QuantizedQuery& query, size_t limit,
                   double minScore, std::vector<Candidate>& kept)
    : quantized_(quantized),
      query_(query),
      limit_(limit),
      errorUnit_(RabitqQuantizer::ERROR_MARGIN * RabitqQuantizer::ERROR_1BIT *
                 query.residualLength),
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
        estimates[i] + errorUnit_ * quantized_.quantizer.factors1Bit(codes_[i]).scale;
    if (!(upper >= minEstimate_)) continue;
    kept_.push_back({upper, nodes_[i], false});
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
  std::erase_if(kept_, [this](const Candidate& entry) { return entry.estimate < minEstimate_; });
  if (kept_.size() <= MAX_SCAN_CANDIDATES) return;
  std::nth_element(kept_.begin(), kept_.begin() + MAX_SCAN_CANDIDATES, kept_.end(),
                   [](const Candidate& a, const Candidate& b) { return a.estimate > b.estimate; });
  kept_.resize(MAX_SCAN_CANDIDATES);
}

}  // namespace tessera
