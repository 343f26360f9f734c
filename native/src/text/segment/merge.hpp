// Merges segments into one without the original documents.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "text/segment/text_segment.hpp"

namespace tessera {

/// The new number of each document of a segment; negative for a document that was left out.
using DocumentNumbers = std::vector<int32_t>;

/// Merges the documents in scope of segments. If two segments hold the same document, the first wins. It copies tokens,
/// postings and texts under new numbers, which takes a fraction of the time of building the segment. Throws
/// std::invalid_argument if numbers in a segment are out of range.
std::vector<DocumentNumbers> mergeSegments(std::span<const TextSegment> segments, const SegmentMemory& memory);

}  // namespace tessera
