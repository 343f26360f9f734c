#include "search/match_count.hpp"

#include "common/prefetch.hpp"

namespace tessera {

/// Most vectors near the threshold that are compared. Reading more would take longer than the search itself.
static constexpr size_t MAX_COMPARED = 256;
/// Standard errors that no estimate exceeds by chance: one normal error in 10^15 is larger.
static constexpr float SURE_ERRORS = 8;
/// More than rounding to float32 can change a sum over the elements of two vectors.
static constexpr float FLOAT_ERROR = 1e-3f;

namespace {

class MatchCount {
 public:
  MatchCount(const ScopePart& part, const QuantizedIndex& quantized,
             const QuantizedQuery& quantizedQuery, const PreparedQuery& prepared)
      : part_(part),
        quantized_(quantized),
        quantizedQuery_(quantizedQuery),
        prepared_(prepared) {}

  void add(uint32_t node) {
    if (near_ > MAX_COMPARED) return;
    quantized_.codes().prefetch3Bit(node);
    waitingNodes_[waiting_++] = node;
    if (waiting_ == BATCH) flush();
  }

  std::optional<uint64_t> finish(SearchWork& work) {
    flush();
    if (near_ > MAX_COMPARED) return std::nullopt;
    const VectorTable& vectors = part_.shard->vectors();
    for (size_t i = 0; i < near_; i++) {
      if (i + 1 < near_) prefetch(vectors.vector(nearNodes_[i + 1]), vectorBytes());
      if (exactScore(vectors, prepared_, nearNodes_[i]) < prepared_.query.threshold) continue;
      matches_ += chunksOf(part_, nearNodes_[i]);
    }
    work.vectors += near_;
    return matches_;
  }

 private:
  static constexpr size_t BATCH = 16;

  size_t vectorBytes() const { return prepared_.query.dimension * sizeof(float); }

  void flush() {
    for (size_t i = 0; i < waiting_; i++) settle(waitingNodes_[i]);
    waiting_ = 0;
  }

  void settle(uint32_t node) {
    const double threshold = prepared_.query.threshold;
    const RabitqQuantizer& quantizer = quantized_.quantizer;
    const Code3Bit code = quantized_.codes().code3Bit(node);
    const float estimate = quantizer.estimate3Bit(quantizedQuery_, code);
    const float margin =
        SURE_ERRORS * quantizer.error3Bit(quantizedQuery_, code.signs) + FLOAT_ERROR;
    if (estimate + margin < threshold) return;
    if (estimate - margin >= threshold) {
      matches_ += chunksOf(part_, node);
    } else if (near_++ < MAX_COMPARED) {
      nearNodes_[near_ - 1] = node;
    }
  }

  const ScopePart& part_;
  const QuantizedIndex& quantized_;
  const QuantizedQuery& quantizedQuery_;
  const PreparedQuery& prepared_;
  uint32_t waitingNodes_[BATCH];
  size_t waiting_ = 0;
  uint32_t nearNodes_[MAX_COMPARED];
  size_t near_ = 0;
  uint64_t matches_ = 0;
};

}  // namespace

std::optional<uint64_t> countMatches(const ScopePart& part, const QuantizedIndex& quantized,
                                     const QuantizedQuery& quantizedQuery,
                                     const PreparedQuery& prepared, SearchWork& work) {
  MatchCount count(part, quantized, quantizedQuery, prepared);
  part.nodes.forEach(0, [&](uint32_t node) { count.add(node); });
  return count.finish(work);
}

}  // namespace tessera
