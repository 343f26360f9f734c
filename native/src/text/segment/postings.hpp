// Inverts the tokens of documents to postings by term.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "text/segment/field_weights.hpp"
#include "text/segment/text_segment.hpp"

namespace tessera {

/// As the sections of a segment hold them.
struct Postings {
  std::vector<uint32_t> starts;
  std::vector<uint32_t> postings;

  /// Sets the sections of a segment to those of this object.
  void fill(TextSegment& segment) const {
    segment.postingStart = starts;
    segment.postings = postings;
  }
};

/// The tokens of document d end at `starts[d + 1]`. All terms are below `terms`.
struct TokenStreams {
  std::span<const uint32_t> starts;
  std::span<const int32_t> tokens;
  size_t terms;

  std::span<const int32_t> of(size_t document) const {
    return tokens.subspan(starts[document], starts[document + 1] - starts[document]);
  }
};

/// @param weights the weight of each field
/// @param lengths gets the length of the content of each document in tokens
Postings invert(const TokenStreams& streams, std::span<const FieldWeight> weights, std::vector<uint32_t>& lengths);

/// Turns the number of elements of each list, at the place after its own, into the starts of the lists.
void addUp(std::vector<uint32_t>& starts);

}  // namespace tessera
