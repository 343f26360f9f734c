#include "candidates.hpp"

namespace tessera {

/// Codes whose estimates are computed in one go.
static constexpr size_t SCAN_BATCH = 64;

namespace {

class ScanBatch {
 public:
  ScanBatch(const Sketch& sketch, const CodedQuery& query, Pool& pool)
      : sketch_(sketch), query_(query), pool_(pool) {}
  ~ScanBatch() { flush(); }

  void add(uint32_t node) {
    nodes_[count_] = node;
    codes_[count_++] = sketch_.codes.row(node);
    if (count_ == SCAN_BATCH) flush();
  }

 private:
  void flush() {
    float estimates[SCAN_BATCH];
    sketch_.book.estimate(query_, codes_, count_, estimates);
    for (size_t i = 0; i < count_; i++) pool_.offer(estimates[i], nodes_[i]);
    count_ = 0;
  }

  const Sketch& sketch_;
  const CodedQuery& query_;
  Pool& pool_;
  uint32_t nodes_[SCAN_BATCH];
  const uint8_t* codes_[SCAN_BATCH];
  size_t count_ = 0;
};

}  // namespace

void scanCodes(const Sketch& sketch, const CodedQuery& query, const Bitmap& members, uint32_t from,
               Pool& pool) {
  ScanBatch batch(sketch, query, pool);
  members.forEach(from, [&](uint32_t node) { batch.add(node); });
}

void scanAllCodes(const Sketch& sketch, const CodedQuery& query, uint32_t from, uint32_t to,
                  Pool& pool) {
  ScanBatch batch(sketch, query, pool);
  for (uint32_t node = from; node < to; node++) batch.add(node);
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
