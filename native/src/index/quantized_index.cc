#include "index/quantized_index.hpp"

#include "codes/rotation.hpp"
#include "index/calibration.hpp"

namespace tessera {

/// Vectors that are enough to estimate the mean of all.
static constexpr uint32_t CENTRE_SAMPLE = 8192;

QuantizedIndex::QuantizedIndex(uint32_t dimension)
    : quantizer(dimension),
      codes1Bit(RabitqQuantizer::code1BitBytes(dimension), HOT_SLAB_ROW_BITS),
      codes4Bit(RabitqQuantizer::code4BitBytes(dimension)),
      graph(quantizer, codes1Bit, codes4Bit) {}

QuantizedIndex::~QuantizedIndex() = default;

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
  codes4Bit.ensure(nodes);
  std::vector<float> prepared(quantizer.dimension());
  for (; encoded < nodes; encoded++) {
    quantizer.prepare(vectors.vector(encoded), vectors.inverseNorm(encoded), prepared.data());
    quantizer.encode1Bit(prepared.data(), codes1Bit.row(encoded));
    quantizer.encode4Bit(prepared.data(), codes4Bit.row(encoded));
  }
}

uint32_t QuantizedIndex::calibrate(const VectorTable& vectors) {
  // An index that has grown by a quarter since the last measurement may need another effort.
  if (!calibration_ && uint64_t{encoded} * 4 < uint64_t{calibratedNodes} * 5) return 0;
  if (!calibration_) calibration_ = std::make_unique<Calibration>(encoded);
  if (!calibration_->advance(vectors, *this)) return 1;
  setEffort(calibration_->effort());
  calibratedNodes = calibration_->nodes();
  calibration_.reset();
  return 0;
}

uint32_t QuantizedIndex::extendGraph(const VectorTable& vectors, uint32_t maxNodes) {
  if (encoded < GRAPH_MIN_NODES) return 0;
  static thread_local GraphScratch scratch;
  static thread_local QuantizedQuery query;
  std::vector<float> prepared(quantizer.dimension());
  for (uint32_t done = 0; done < maxNodes && graph.size() < encoded; done++) {
    const uint32_t node = graph.size();
    quantizer.prepare(vectors.vector(node), vectors.inverseNorm(node), prepared.data());
    quantizer.encodeQuery(prepared.data(), query);
    graph.insert(query, scratch);
  }
  const uint32_t pending = encoded - graph.size();
  return pending > 0 ? pending : calibrate(vectors);
}

}  // namespace tessera
