#include "text/segment/merge.hpp"

#include <algorithm>
#include <compare>
#include <stdexcept>
#include <string>
#include <unordered_map>

#include "common/keyed_hash.hpp"
#include "common/utf8.hpp"
#include "text/segment/document_sections.hpp"
#include "text/segment/postings.hpp"
#include "text/segment/sorted_terms.hpp"
#include "text/segment/stem_table.hpp"

namespace tessera {

namespace {

/// Stands for the number of a term that only documents hold which are left out.
constexpr uint32_t UNUSED = UINT32_MAX;
constexpr int32_t LEFT_OUT = -1;

/// A segment with the new numbers of its documents, terms and keys.
struct Part {
  const TextSegment& segment;
  DocumentNumbers numbers;
  std::vector<uint32_t> terms;
  /// The mark of each key of the frontmatter.
  std::vector<int32_t> keyMarks;
};

/// A document to keep.
struct Source {
  Part* part;
  uint32_t document;

  std::string_view path() const { return part->segment.path(document); }
  std::u16string id() const {
    const std::string_view bytes = part->segment.versionId(document);
    std::u16string text;
    decodeUtf8({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, text);
    return text;
  }
};

/// The order of documents in a segment.
std::strong_ordering operator<=>(const Source& a, const Source& b) {
  if (const auto order = a.path() <=> b.path(); order != 0) return order;
  return a.id() <=> b.id();
}

bool isRising(std::span<const uint32_t> starts, size_t end) {
  return std::ranges::is_sorted(starts) && starts.back() <= end;
}

bool isKnownToken(const TextSegment& segment, int32_t token) {
  if (token >= 0) return static_cast<uint32_t>(token) < segment.termCount();
  return token >= FIRST_INNER_MARK || fieldOfMark(token) < FIRST_KEY_FIELD + segment.keys.size();
}

bool hasRisingBlocks(const TextSegment& segment) {
  size_t last = 0;
  for (size_t i = 0; i < segment.blocks.size(); i += 2) {
    if (segment.blocks[i] < last) return false;
    last = segment.blocks[i];
  }
  return last <= segment.texts.size();
}

/// A segment that was verified has the right numbers, unless its file is forged.
void checkNumbers(const TextSegment& segment) {
  const auto isBelow = [](size_t end) { return [end](uint32_t number) { return number < end; }; };
  const bool fits =
      isRising(segment.stringStart, segment.strings.size()) && isRising(segment.tokenStart, segment.tokens.size()) &&
      isRising(segment.blockStart, segment.blocks.size() / 2) && hasRisingBlocks(segment) &&
      isRising(segment.termStart, segment.termChars.size()) &&
      isRising(segment.postingStart, segment.postings.size()) &&
      isRising(segment.stemStart, segment.stemTerms.size()) &&
      std::ranges::all_of(segment.stemTerms, isBelow(segment.termCount())) &&
      std::ranges::all_of(segment.languages, isBelow(STEM_LANGUAGES)) &&
      std::ranges::all_of(segment.tokens, [&](int32_t token) { return isKnownToken(segment, token); }) &&
      std::ranges::all_of(segment.postings, [&](uint32_t posting) {
        return posting >> POSTING_DOCUMENT_SHIFT < segment.documentCount();
      });
  if (!fits) throw std::invalid_argument("the numbers in a segment are out of range");
}

/// The distinct keys of all parts as a JSON list. Gives each part its marks.
std::string mergeKeys(std::vector<Part>& parts) {
  std::unordered_map<std::string_view, uint32_t, KeyedHash> fields;
  std::string list = "[";
  for (Part& part : parts) {
    for (const std::string_view key : part.segment.keys) {
      const auto [field, isNew] = fields.emplace(key, FIRST_KEY_FIELD + static_cast<uint32_t>(fields.size()));
      part.keyMarks.push_back(markOf(field->second));
      if (isNew) (((list += list.size() > 1 ? ",\"" : "\"") += key) += '"');
    }
  }
  return list + "]";
}

/// Numbers the documents to keep in the order of their paths and ids.
std::vector<Source> mergeDocuments(std::vector<Part>& parts) {
  std::vector<Source> sources;
  for (Part& part : parts) {
    for (uint32_t document = 0; document < part.segment.documentCount(); document++) {
      if (part.segment.inScope.has(document)) sources.push_back({&part, document});
    }
  }
  std::ranges::stable_sort(sources, [](const Source& a, const Source& b) { return a < b; });
  const auto isSame = [](const Source& a, const Source& b) { return (a <=> b) == 0; };
  sources.erase(std::unique(sources.begin(), sources.end(), isSame), sources.end());
  requireDocuments(sources.size());
  for (size_t i = 0; i < sources.size(); i++) {
    sources[i].part->numbers[sources[i].document] = static_cast<int32_t>(i);
  }
  return sources;
}

/// Calls `visit(term, posting)` for the postings of kept documents, part by part, under their new numbers.
template <typename Visit>
void eachKeptPosting(const std::vector<Part>& parts, const Visit& visit) {
  for (const auto& [segment, numbers, terms, keyMarks] : parts) {
    for (uint32_t term = 0; term < segment.termCount(); term++) {
      if (terms[term] == UNUSED) continue;
      for (const uint32_t posting : segment.postingsOf(term)) {
        const int32_t number = numbers[posting >> POSTING_DOCUMENT_SHIFT];
        if (number == LEFT_OUT) continue;
        visit(terms[term],
              static_cast<uint32_t>(number) << POSTING_DOCUMENT_SHIFT | (posting & POSTING_CODE_MASK));
      }
    }
  }
}

/// Sorts the terms that kept documents hold, and numbers them in each part.
SortedTerms mergeTerms(std::vector<Part>& parts) {
  std::vector<std::u16string_view> texts;
  for (Part& part : parts) {
    const DocumentNumbers& numbers = part.numbers;
    const bool keepsAll = std::ranges::find(numbers, LEFT_OUT) == numbers.end();
    const auto isKept = [&](uint32_t posting) { return numbers[posting >> POSTING_DOCUMENT_SHIFT] != LEFT_OUT; };
    for (uint32_t term = 0; term < part.segment.termCount(); term++) {
      if (!keepsAll && std::ranges::none_of(part.segment.postingsOf(term), isKept)) continue;
      part.terms[term] = static_cast<uint32_t>(texts.size());
      texts.push_back(part.segment.term(term));
    }
  }
  SortedTerms sorted = sortTerms(texts);
  for (Part& part : parts) {
    for (uint32_t& term : part.terms) {
      if (term != UNUSED) term = sorted.numbers[term];
    }
  }
  return sorted;
}

/// The postings of all parts. The postings of a term are in the order of documents.
Postings mergePostings(const std::vector<Part>& parts, uint32_t terms) {
  Postings merged;
  merged.starts.resize(terms + size_t{1});
  eachKeptPosting(parts, [&](uint32_t term, uint32_t) { merged.starts[term + 1]++; });
  addUp(merged.starts);
  merged.postings.resize(merged.starts.back());
  std::vector<uint32_t> next = merged.starts;
  eachKeptPosting(parts, [&](uint32_t term, uint32_t posting) { merged.postings[next[term]++] = posting; });
  for (uint32_t term = 0; term < terms; term++) {
    const auto own = std::span(merged.postings).subspan(merged.starts[term], next[term] - merged.starts[term]);
    if (!std::ranges::is_sorted(own)) std::ranges::sort(own);
  }
  return merged;
}

/// The forms whose term a kept document holds.
std::vector<StemForm> joinForms(const std::vector<Part>& parts) {
  std::vector<StemForm> forms;
  for (const auto& [segment, numbers, terms, keyMarks] : parts) {
    for (uint32_t language = 0; language < STEM_LANGUAGES; language++) {
      for (uint32_t i = segment.stemStart[language]; i < segment.stemStart[language + 1]; i++) {
        const uint32_t term = terms[segment.stemTerms[i]];
        if (term != UNUSED) forms.push_back({language, segment.stemKeys[i], term});
      }
    }
  }
  return forms;
}

int32_t renumbered(int32_t token, const Part& part) {
  if (token >= 0) return static_cast<int32_t>(part.terms[static_cast<size_t>(token)]);
  const bool isKey = token < FIRST_INNER_MARK && fieldOfMark(token) >= FIRST_KEY_FIELD;
  return isKey ? part.keyMarks[fieldOfMark(token) - FIRST_KEY_FIELD] : token;
}

void addDocument(const Source& source, DocumentSections& sections) {
  const TextSegment& segment = source.part->segment;
  const uint32_t document = source.document;
  sections.begin({segment.path(document), segment.versionId(document), segment.title(document),
                  segment.frontmatter(document)},
                 segment.languages[document]);
  for (const int32_t token : segment.tokensOf(document)) sections.addToken(renumbered(token, *source.part));
  const Range blocks = segment.blocksOf(document);
  for (uint32_t block = blocks.from; block < blocks.to; block++) {
    sections.addBlock(segment.firstTokenOf(block), segment.block(block));
  }
}

}  // namespace

std::vector<DocumentNumbers> mergeSegments(std::span<const TextSegment> segments, const SegmentMemory& memory) {
  std::vector<Part> parts;
  size_t tokens = 0, bytes = 0, postingCount = 0;
  for (const TextSegment& segment : segments) {
    checkNumbers(segment);
    tokens += segment.tokens.size();
    bytes += segment.texts.size();
    postingCount += segment.postings.size();
    parts.push_back({segment, DocumentNumbers(segment.documentCount(), LEFT_OUT),
                     std::vector<uint32_t>(segment.termCount(), UNUSED), {}});
  }
  offsetOf(postingCount);
  const std::string keys = mergeKeys(parts);
  const std::vector<Source> sources = mergeDocuments(parts);
  const SortedTerms terms = mergeTerms(parts);
  const Postings postings = mergePostings(parts, terms.size());
  DocumentSections documents;
  documents.reserve(tokens, bytes);
  std::vector<uint32_t> lengths;
  for (const Source& source : sources) {
    addDocument(source, documents);
    lengths.push_back(source.part->segment.lengths[source.document]);
  }
  TextSegment merged{};
  documents.finish(keys, merged);
  merged.lengths = lengths;
  terms.fill(merged);
  const StemTable stems = stemTableOf({merged.languages, postings.starts, postings.postings}, joinForms(parts));
  stems.fill(merged);
  postings.fill(merged);
  writeSections(merged, memory);
  std::vector<DocumentNumbers> numbers;
  for (Part& part : parts) numbers.push_back(std::move(part.numbers));
  return numbers;
}

}  // namespace tessera
