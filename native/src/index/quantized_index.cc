#include "index/quantized_index.hpp"

#include <algorithm>

#include "codes/rotation.hpp"
#include "index/calibration.hpp"

namespace tessera {

/// Sample size that suffices to estimate the mean of all vectors.
static constexpr uint32_t CENTRE_SAMPLE = 8192;

QuantizedIndex::QuantizedIndex(uint32_t dimension)
    : quantizer(dimension),
      codes1Bit(RabitqQuantizer::code1BitBytes(dimension), HOT_SLAB_ROW_BITS),
      refinements(RabitqQuantizer::refinementBytes(dimension)) {}

void QuantizedIndex::computeCentre(const VectorTable& vectors, uint32_t nodes) {
  std::vector<float>& centre = quantizer.centre();
  const uint32_t dimension = quantizer.dimension();
  std::vector<double> sums(dimension, 0);
  const uint32_t stride = nodes / CENTRE_SAMPLE + 1;
  uint32_t sampled = 0;
  for (uint32_t node = 0; node < nodes; node += stride, sampled++) {
    const float* vector = vectors.vector(node);
    const double inverseNorm = vectors.inverseNorm(node);
    for (uint32_t i = 0; i < dimension; i++) sums[i] += vector[i] * inverseNorm;
  }
  for (uint32_t i = 0; i < dimension; i++) centre[i] = static_cast<float>(sums[i] / sampled);
  rotate(centre.data(), dimension);
  quantizer.centreChanged();
  centreNodes = nodes;
}

void QuantizedIndex::encode(const VectorTable& vectors, uint32_t nodes) {
  codes1Bit.ensure(nodes);
  refinements.ensure(nodes);
  std::vector<float> prepared(quantizer.dimension());
  for (uint32_t node = encoded(); node < nodes; node++) {
    RabitqQuantizer::prepare(vectors.vector(node), vectors.inverseNorm(node), vectors.dimension(),
                             prepared.data());
    quantizer.encode(prepared.data(), codes1Bit.row(node), refinements.row(node));
  }
  encoded_.store(std::max(nodes, encoded()), std::memory_order_release);
}

bool QuantizedIndex::growGraph(uint32_t nodes, unsigned threads,
                               const std::atomic<bool>& cancelled) {
  std::shared_ptr<const Graph> next =
      Graph::extend(graph().get(), codes(), nodes, threads, cancelled);
  if (!next) return false;
  graph_.store(std::move(next));
  return true;
}

bool QuantizedIndex::calibrate(const VectorTable& vectors, bool forced,
                               const std::atomic<bool>& cancelled) {
  const uint64_t nodes = graph()->size();
  if (!forced && nodes * 4 < uint64_t{calibratedNodes_} * 5) return false;
  Calibration calibration(vectors, *this);
  if (!calibration.run(cancelled)) return false;
  effort_.store(std::make_shared<const SearchEffort>(calibration.effort()));
  calibratedNodes_ = calibration.nodes();
  return true;
}

}  // namespace tessera
