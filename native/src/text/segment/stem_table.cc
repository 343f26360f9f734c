#include "text/segment/stem_table.hpp"

#include <algorithm>
#include <bitset>

namespace tessera {

namespace {

using Languages = std::bitset<STEM_LANGUAGES>;

constexpr uint32_t NOT_COUNTED = UINT32_MAX;

std::span<const uint32_t> postingsOf(const StemSource& source, uint32_t term) {
  const uint32_t from = source.postingStart[term];
  return source.postings.subspan(from, source.postingStart[term + 1] - from);
}

/// The languages of the documents that hold a term.
Languages documentLanguages(const StemSource& source, uint32_t term, bool isLatinWord) {
  Languages found;
  for (const uint32_t posting : postingsOf(source, term)) {
    found.set(languageFor(source.languages[posting >> POSTING_DOCUMENT_SHIFT], isLatinWord));
  }
  return found;
}

uint32_t countDocuments(const StemSource& source, const StemForm& form) {
  const auto own = postingsOf(source, form.term);
  // Forms in languages of other scripts are not Latin words.
  const bool isLatinWord = isLatin(static_cast<uint8_t>(form.language));
  return static_cast<uint32_t>(std::ranges::count_if(own, [&](uint32_t posting) {
    return languageFor(source.languages[posting >> POSTING_DOCUMENT_SHIFT], isLatinWord) == form.language;
  }));
}

}  // namespace

void addStemForms(const StemSource& source, uint32_t term, std::u16string_view word, bool isFunctional,
                  std::vector<StemForm>& forms) {
  const bool isLatinWord = hasStem(word, ENGLISH);
  const Languages languages = documentLanguages(source, term, isLatinWord);
  for (uint8_t language = 0; language < STEM_LANGUAGES; language++) {
    if (isFunctional && language != ENGLISH) break;
    if (!languages.test(language) || !hasStem(word, language)) continue;
    forms.push_back({language, stemKey(word, language), term});
  }
}

StemTable stemTableOf(const StemSource& source, std::vector<StemForm> forms) {
  std::ranges::sort(forms);
  forms.erase(std::unique(forms.begin(), forms.end()), forms.end());
  StemTable table;
  table.starts.assign(STEM_LANGUAGES + 1, 0);
  // By term, its documents of the language. A term has many forms if its marks differ, and is counted once.
  std::vector<uint32_t> counts;
  const StemForm* last = nullptr;
  for (const StemForm& form : forms) {
    const bool isFirst = last == nullptr || last->language != form.language;
    if (isFirst) counts.assign(source.postingStart.size() - 1, NOT_COUNTED);
    last = &form;
    uint32_t& count = counts[form.term];
    if (count == NOT_COUNTED) count = countDocuments(source, form);
    if (count == 0) continue;
    table.keys.push_back(form.key);
    table.terms.push_back(form.term);
    table.counts.push_back(count);
    table.starts[form.language + 1]++;
  }
  for (size_t l = 0; l < STEM_LANGUAGES; l++) table.starts[l + 1] += table.starts[l];
  return table;
}

}  // namespace tessera
