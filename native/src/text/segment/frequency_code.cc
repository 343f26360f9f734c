#include "text/segment/frequency_code.hpp"

#include <cmath>

namespace tessera {

static constexpr uint32_t CONTENT_BITS = 5;
static constexpr uint32_t CONTENT_MASK = (1u << CONTENT_BITS) - 1;
static constexpr uint32_t CONTENT_EXACT = 16;
static constexpr double CONTENT_STEP = 1.25;
static constexpr double FIELDS_SCALE = 18;
static constexpr double FIELDS_SMALLEST = 0.05;

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
