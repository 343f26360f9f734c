#include "text/segment/postings.hpp"

#include <algorithm>
#include <numeric>

#include "text/segment/frequency_code.hpp"

namespace tessera {

namespace {

using Tokens = std::span<const int32_t>;

bool isTerm(int32_t token) { return token >= 0; }
bool startsField(int32_t token) { return token < FIRST_INNER_MARK; }
bool endsWords(int32_t token) { return token == JOINED_MARK || token == SUBWORDS_MARK; }

/// The frequencies of a term in one document: in the content, and weighted in the other fields.
struct Frequencies {
  double content = 0;
  double fields = 0;
};

/// The length of a field in tokens, without marks, joined spellings and subwords.
uint32_t lengthOf(Tokens field) {
  return static_cast<uint32_t>(std::count_if(field.begin(), std::ranges::find_if(field, endsWords), isTerm));
}

/// Counts the terms of one document. Returns the length of its content in tokens.
uint32_t countTerms(Tokens tokens, std::span<const FieldWeight> weights, std::vector<Frequencies>& counts) {
  uint32_t contentLength = 0;
  while (!tokens.empty()) {
    const uint32_t number = fieldOfMark(tokens[0]);
    const auto end = std::find_if(tokens.begin() + 1, tokens.end(), startsField);
    const Tokens field(tokens.begin() + 1, end);
    const uint32_t length = lengthOf(field);
    if (number == CONTENT_FIELD) contentLength += length;
    double Frequencies::*const own = number == CONTENT_FIELD ? &Frequencies::content : &Frequencies::fields;
    const auto [boost, b, pivotLength] = weights[number];
    const double whole = boost / (1 - b + b * (length / pivotLength));
    double weight = whole;
    for (const int32_t token : field) {
      if (isTerm(token)) {
        counts[static_cast<size_t>(token)].*own += weight;
      } else if (token == JOINED_MARK) {
        weight = whole * JOINED_SHARE;
      } else if (token == SUBWORDS_MARK) {
        weight = whole * SUBWORD_SHARE;
      }
    }
    tokens = Tokens(end, tokens.end());
  }
  return contentLength;
}

/// The start of each term's postings, by counting the documents that hold the term.
std::vector<uint32_t> startPostings(const TokenStreams& streams) {
  std::vector<uint32_t> starts(streams.terms + size_t{1});
  // The last document that holds the term, plus 1.
  std::vector<uint32_t> last(streams.terms);
  for (uint32_t d = 0; d + 1 < streams.starts.size(); d++) {
    for (const int32_t token : streams.of(d)) {
      if (!isTerm(token)) continue;
      const auto term = static_cast<size_t>(token);
      if (last[term] != d + 1) starts[term + 1]++;
      last[term] = d + 1;
    }
  }
  addUp(starts);
  return starts;
}

}  // namespace

void addUp(std::vector<uint32_t>& starts) { std::partial_sum(starts.begin(), starts.end(), starts.begin()); }

Postings invert(const TokenStreams& streams, std::span<const FieldWeight> weights, std::vector<uint32_t>& lengths) {
  Postings inverted{startPostings(streams), {}};
  inverted.postings.resize(inverted.starts.back());
  std::vector<uint32_t> next = inverted.starts;
  std::vector<Frequencies> counts(streams.terms);
  for (uint32_t d = 0; d + 1 < streams.starts.size(); d++) {
    const Tokens own = streams.of(d);
    lengths.push_back(countTerms(own, weights, counts));
    for (const int32_t token : own) {
      if (!isTerm(token)) continue;
      const auto term = static_cast<size_t>(token);
      auto& [content, fields] = counts[term];
      // A negative frequency marks a term that has its posting.
      if (fields < 0) continue;
      inverted.postings[next[term]++] = d << POSTING_DOCUMENT_SHIFT | frequencyCode(content, fields);
      fields = -1;
    }
    for (const int32_t token : own) {
      if (isTerm(token)) counts[static_cast<size_t>(token)] = {};
    }
  }
  return inverted;
}

}  // namespace tessera
