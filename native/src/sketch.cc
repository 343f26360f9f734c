#include "sketch.hpp"

#include "calibrate.hpp"
#include "index.hpp"
#include "rotation.hpp"

namespace tessera {

/// A sample this large tells the mean well enough.
static constexpr uint32_t FIT_SAMPLE = 8192;

Sketch::Sketch(uint32_t dimension)
    : book(dimension),
      codes(Codebook::codeBytes(dimension), HOT_SLAB_ROW_BITS),
      fine(Codebook::fineBytes(dimension)),
      graph(book, codes) {}

Sketch::~Sketch() = default;

void Sketch::fit(const Index& index, uint32_t nodes) {
  std::vector<float>& centre = book.centre();
  const uint32_t dimension = book.dimension();
  std::vector<double> sums(dimension, 0);
  const uint32_t stride = nodes / FIT_SAMPLE + 1;
  uint32_t sampled = 0;
  for (uint32_t node = 0; node < nodes; node += stride, sampled++) {
    const float* vector = index.vector(node);
    const double inverseNorm = index.inverseNorm(node);
    for (uint32_t i = 0; i < dimension; i++) sums[i] += vector[i] * inverseNorm;
  }
  for (uint32_t i = 0; i < dimension; i++) centre[i] = static_cast<float>(sums[i] / sampled);
  rotate(centre.data(), dimension);
  book.centreChanged();
  fittedTo = nodes;
}

void Sketch::encode(const Index& index, uint32_t nodes) {
  codes.ensure(nodes);
  fine.ensure(nodes);
  std::vector<float> prepared(book.dimension());
  for (; coded < nodes; coded++) {
    book.prepare(index.vector(coded), index.inverseNorm(coded), prepared.data());
    book.encode(prepared.data(), codes.row(coded));
    book.encodeFine(prepared.data(), fine.row(coded));
  }
}

uint32_t Sketch::calibrate(const Index& index) {
  // Half as many nodes again may need another expansion.
  if (!calibration && uint64_t{coded} * 2 < uint64_t{calibratedAt} * 3) return 0;
  if (!calibration) calibration = std::make_unique<Calibration>(coded);
  if (!calibration->advance(index, *this)) return 1;
  expansion.store(calibration->expansion(), std::memory_order_release);
  calibratedAt = calibration->nodes();
  calibration.reset();
  return 0;
}

uint32_t Sketch::extend(const Index& index, uint32_t most) {
  if (coded < GRAPH_MIN) return 0;
  static thread_local GraphScratch scratch;
  static thread_local CodedQuery query;
  std::vector<float> prepared(book.dimension());
  for (uint32_t done = 0; done < most && graph.size() < coded; done++) {
    const uint32_t node = graph.size();
    book.prepare(index.vector(node), index.inverseNorm(node), prepared.data());
    book.encodeQuery(prepared.data(), query);
    graph.insert(query, scratch);
  }
  const uint32_t pending = coded - graph.size();
  return pending > 0 ? pending : calibrate(index);
}

}  // namespace tessera
