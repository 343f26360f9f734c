#include "text/segment/frequency_code.hpp"

#include <algorithm>
#include <cmath>

namespace tessera {

static constexpr uint32_t CONTENT_BITS = 5;
static constexpr uint32_t CONTENT_MASK = (1u << CONTENT_BITS) - 1;
/// Frequencies up to this one are exact; each code beyond it is a quarter more.
static constexpr uint32_t CONTENT_EXACT = 16;
static constexpr double CONTENT_STEP = 1.25;
static constexpr double FIELDS_MAX = 127;
/// A step of the logarithmic scale is about 6%.
static constexpr double FIELDS_SCALE = 18;
static constexpr double FIELDS_SMALLEST = 0.05;

static double contentCode(double frequency) {
  if (frequency <= CONTENT_EXACT) return std::round(frequency);
  const double steps = std::log(frequency / CONTENT_EXACT) / std::log(CONTENT_STEP);
  return std::min<double>(CONTENT_MASK, CONTENT_EXACT + std::round(steps));
}

static double fieldsCode(double frequency) {
  if (frequency <= 0) return 0;
  const double code = std::round(FIELDS_SCALE * std::log(1 + frequency / FIELDS_SMALLEST));
  return std::clamp<double>(code, 1, FIELDS_MAX);
}

uint32_t frequencyCode(double content, double fields) {
  const auto low = static_cast<uint32_t>(contentCode(content));
  // A subword alone in the content is too rare for the content's scale.
  const double high = low == 0 ? std::max(1.0, fieldsCode(fields + content)) : fieldsCode(fields);
  return static_cast<uint32_t>(high) << CONTENT_BITS | low;
}

static double contentFrequency(uint32_t code) {
  if (code <= CONTENT_EXACT) return code;
  return CONTENT_EXACT * std::pow(CONTENT_STEP, code - CONTENT_EXACT);
}

const CodedFrequencies& codedFrequencies() {
  static const CodedFrequencies table = [] {
    CodedFrequencies filled{};
    for (uint32_t code = 0; code <= POSTING_CODE_MASK; code++) {
      const double step = code >> CONTENT_BITS;
      filled.content[code] = static_cast<float>(contentFrequency(code & CONTENT_MASK));
      filled.fields[code] =
          static_cast<float>(FIELDS_SMALLEST * (std::exp(step / FIELDS_SCALE) - 1));
    }
    return filled;
  }();
  return table;
}

}  // namespace tessera
