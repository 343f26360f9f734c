// Which terms of a segment are forms of a word, by language.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "text/segment/stem.hpp"
#include "text/segment/text_segment.hpp"

namespace tessera {

/// A term that has a stem in a language.
struct StemForm {
  uint32_t language;
  uint32_t key;
  uint32_t term;

  auto operator<=>(const StemForm&) const = default;
};

/// As the sections of a segment hold it.
struct StemTable {
  std::vector<uint32_t> starts;
  std::vector<uint32_t> keys;
  std::vector<uint32_t> terms;
  std::vector<uint32_t> counts;

  /// Sets the sections of a segment to those of this object.
  void fill(TextSegment& segment) const {
    segment.stemStart = starts;
    segment.stemKeys = keys;
    segment.stemTerms = terms;
    segment.stemCounts = counts;
  }
};

/// The input of the table. All terms of postings and forms are below `terms`.
struct StemSource {
  /// The language of each document.
  std::span<const uint8_t> languages;
  std::span<const uint32_t> postingStart;
  std::span<const uint32_t> postings;
};

/// The language of the stemmer for the words of a script in a document: the language of the document, but
/// English for words in Latin letters in texts of other scripts.
inline uint8_t languageFor(uint8_t documentLanguage, bool isLatinWord) {
  return isLatinWord && !isLatin(documentLanguage) ? ENGLISH : documentLanguage;
}

/// Adds the forms of a term, as it is written in the dictionary, in the languages of the documents that hold it.
/// A function word of any language is a form in English only. In other texts it is probably part of a quotation.
void addStemForms(const StemSource& source, uint32_t term, std::u16string_view word, bool isFunctional,
                  std::vector<StemForm>& forms);

/// Sorts forms, which may repeat, and counts the documents of each.
StemTable stemTableOf(const StemSource& source, std::vector<StemForm> forms);

}  // namespace tessera
