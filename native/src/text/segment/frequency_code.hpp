// The frequency of a term in a document, in the 12 bits of a posting: its frequency in the content (low bits) and its
// weighted frequency in all other fields (high bits). They are separate because a search normalises the length of the
// content by the average of its scope.
#pragma once
#include <array>

#include "text/segment/text_segment.hpp"

namespace tessera {

/// The frequencies of a code: in the content, and the weighted frequency in other fields.
struct CodedFrequencies {
  std::array<float, POSTING_CODE_MASK + 1> content;
  std::array<float, POSTING_CODE_MASK + 1> fields;
};

/// By the code.
const CodedFrequencies& codedFrequencies();

/// The code of a frequency, from 1 on. A subword in the content counts less than 1.
uint32_t frequencyCode(double content, double fields);

}  // namespace tessera
