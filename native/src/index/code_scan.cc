#include "index/code_scan.hpp"

#include <algorithm>
#include <functional>

namespace tessera {

/// If at least this many nodes are near the best estimate, their errors are alike.
static constexpr size_t CROWD_NODES = 10;
static constexpr float CROWD_ERRORS = 0.35f;

CodeScan::CodeScan(const QuantizedIndex& quantized, const QuantizedQuery& query, size_t limit,
                   double minScore, std::vector<Candidate>& kept, ErrorBounds bounds)
    : quantized_(quantized),
      query_(query),
      limit_(limit),
      error_(RabitqQuantizer::ERROR_1BIT * query.residualLength),
      window_(bounds.window * error_),
      margin_(bounds.margin * error_),
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
    kept_.push_back({estimates[i], nodes_[i]});
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

float CodeScan::scaleOf(const Candidate& entry) const {
  return quantized_.quantizer.factors1Bit(quantized_.codes1Bit.row(entry.node)).scale;
}

bool CodeScan::isCrowded() {
  flush();
  float highest = -1e30f;
  for (const Candidate& entry : kept_) highest = std::max(highest, entry.estimate);
  size_t near = 0;
  for (const Candidate& entry : kept_) {
    // Few candidates are near enough to read their codes.
    if (entry.estimate + error_ < highest) continue;
    near += entry.estimate + CROWD_ERRORS * error_ * scaleOf(entry) >= highest;
  }
  return near >= CROWD_NODES;
}

void CodeScan::finish() {
  flush();
  std::erase_if(kept_, [&](Candidate& entry) {
    const float scale = scaleOf(entry);
    const bool excluded = entry.estimate + window_ * scale < minEstimate_;
    entry.estimate += margin_ * scale;
    return excluded;
  });
}

}  // namespace tessera
