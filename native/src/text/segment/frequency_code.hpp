// Decodes the term frequency from the code of a posting.
#pragma once
#include <array>

#include "text/segment/text_segment.hpp"

namespace tessera {

/// The frequencies of a code: in the content, and the weighted frequency in other fields.
struct CodedFrequencies {
  std::array<float, POSTING_CODE_MASK + 1> content;
  std::array<float, POSTING_CODE_MASK + 1> fields;
};

/// By the code. `src/text/segment/frequency-code.ts` has the scale and writes the codes.
const CodedFrequencies& codedFrequencies();

}  // namespace tessera
