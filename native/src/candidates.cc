#include "candidates.hpp"

#include <algorithm>
#include <functional>

namespace tessera {

/// Candidates of a scan at most: on data that is all alike the errors say nothing.
static constexpr size_t SCAN_CANDIDATES_MAX = 4096;

CodeScan::CodeScan(const Sketch& sketch, const CodedQuery& query, size_t limit, double least,
                   std::vector<Candidate>& kept)
    : sketch_(sketch),
      query_(query),
      limit_(limit),
      errorUnit_(ERROR_MARGIN * Codebook::ERROR * query.residual),
      bar_(static_cast<float>(least)),
      kept_(kept) {
  kept_.clear();
  best_.reserve(limit + 1);
}

void CodeScan::flush() {
  float estimates[BATCH];
  sketch_.book.estimate(query_, codes_, waiting_, estimates);
  for (size_t i = 0; i < waiting_; i++) {
    const float upper = estimates[i] + errorUnit_ * sketch_.book.factors(codes_[i]).scale;
    if (!(upper >= bar_)) continue;
    kept_.push_back({upper, nodes_[i], false});
    if (best_.size() == limit_ && estimates[i] <= best_.front()) continue;
    best_.push_back(estimates[i]);
    std::push_heap(best_.begin(), best_.end(), std::greater<>());
    if (best_.size() > limit_) {
      std::pop_heap(best_.begin(), best_.end(), std::greater<>());
      best_.pop_back();
    }
    if (best_.size() == limit_) bar_ = std::max(bar_, best_.front());
  }
  waiting_ = 0;
}

void CodeScan::finish() {
  flush();
  std::erase_if(kept_, [this](const Candidate& candidate) { return candidate.estimate < bar_; });
  if (kept_.size() <= SCAN_CANDIDATES_MAX) return;
  std::nth_element(kept_.begin(), kept_.begin() + SCAN_CANDIDATES_MAX, kept_.end(),
                   [](const Candidate& a, const Candidate& b) { return a.estimate > b.estimate; });
  kept_.resize(SCAN_CANDIDATES_MAX);
}

void refineCandidates(const Sketch& sketch, const CodedQuery& query, double bar, size_t limit,
                      std::vector<Candidate>& candidates) {
  static constexpr size_t AHEAD = 3;
  const size_t bytes = sketch.fine.rowBytes();
  for (size_t i = 0; i < candidates.size() && i < AHEAD; i++) {
    prefetch(sketch.fine.row(candidates[i].node), bytes);
  }
  for (size_t i = 0; i < candidates.size(); i++) {
    if (i + AHEAD < candidates.size()) {
      prefetch(sketch.fine.row(candidates[i + AHEAD].node), bytes);
    }
    Candidate& candidate = candidates[i];
    candidate.estimate = sketch.book.estimateFine(query, sketch.fine.row(candidate.node));
  }
  std::sort(candidates.begin(), candidates.end(),
            [](const Candidate& a, const Candidate& b) { return a.estimate > b.estimate; });
  if (candidates.size() > limit) {
    // All `limit` best are at least this good, so the answer's last will be, too.
    const Candidate& last = candidates[limit - 1];
    bar = std::max(bar, static_cast<double>(last.estimate - fineMargin(sketch, query, last.node)));
  }
  while (!candidates.empty()) {
    const Candidate& worst = candidates.back();
    if (worst.estimate + fineMargin(sketch, query, worst.node) >= bar) break;
    candidates.pop_back();
  }
}

}  // namespace tessera
