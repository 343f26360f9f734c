#include "text/query/stem_forms.hpp"

#include <algorithm>
#include <map>

#include "text/segment/dictionary.hpp"
#include "text/segment/stem.hpp"
#include "text/segment/weights.hpp"

namespace tessera {

namespace {

class FormFinder {
 public:
  FormFinder(const TextView& view, std::u16string_view word)
      : view_(view), segments_(view.segments()), forms_(segments_.size()) {
    addTerm(word);
  }

  /// Adds the terms that have a stem of the word in a language.
  void add(uint8_t language, std::u16string_view word) {
    if (!hasStem(word, language)) return;
    const uint32_t key = stemKey(word, language);
    if (view_.languages().size() == 1) return addAll(language, key);
    std::map<std::u16string_view, size_t> held;
    for (size_t s = 0; s < segments_.size(); s++) {
      const Range range = stemForms(segments_[s], language, key);
      for (uint32_t form = range.from; form < range.to; form++) {
        const size_t count = view_.formFrequency(s, language, form);
        const uint32_t term = segments_[s].stemTerms[form];
        if (count > 0) held[segments_[s].term(term)] += count;
      }
    }
    for (const auto& [term, count] : held) {
      if (isOf(language, term, count)) addTerm(term);
    }
  }

  /// Adds the terms with the stem in the only language of the view.
  void addAll(uint8_t language, uint32_t key) {
    for (size_t s = 0; s < segments_.size(); s++) {
      const Range range = stemForms(segments_[s], language, key);
      const auto terms = segments_[s].stemTerms.subspan(range.from, range.to - range.from);
      forms_[s].insert(forms_[s].end(), terms.begin(), terms.end());
    }
  }

  std::vector<std::vector<uint32_t>> take() {
    for (auto& terms : forms_) {
      std::ranges::sort(terms);
      const auto repeated = std::ranges::unique(terms);
      terms.erase(repeated.begin(), repeated.end());
    }
    return std::move(forms_);
  }

 private:
  /// Whether a term is a word of a language, in which `count` documents hold it. A term is a foreign word if
  /// nearly all its documents are in other languages. So the `not` of an English quotation in a French text is
  /// not a form of `notes`.
  bool isOf(uint8_t language, std::u16string_view term, size_t count) const {
    const size_t own = view_.documentsIn(language);
    const double share = static_cast<double>(own) / static_cast<double>(view_.documents());
    const auto isOften = [&](size_t all) {
      return static_cast<double>(count) >= STEM_LANGUAGE_MIN_SHARE * share * static_cast<double>(all);
    };
    // Upper bound: all documents in other languages hold it as well.
    if (isOften(count + view_.documents() - own)) return true;
    size_t all = 0;
    for (size_t s = 0; s < segments_.size(); s++) {
      if (const auto found = findTerm(segments_[s], term)) all += view_.frequencyOf(s, {*found, *found + 1});
    }
    return isOften(all);
  }

  void addTerm(std::u16string_view term) {
    for (size_t s = 0; s < segments_.size(); s++) {
      if (const auto found = findTerm(segments_[s], term)) forms_[s].push_back(*found);
    }
  }

  const TextView& view_;
  const std::span<const TextSegment> segments_;
  std::vector<std::vector<uint32_t>> forms_;
};

}  // namespace

std::vector<std::vector<uint32_t>> formsOf(const TextView& view, std::u16string_view word,
                                           std::u16string_view raw) {
  FormFinder finder(view, word);
  for (const uint8_t language : view.languages()) {
    finder.add(language, word);
    if (raw != word) finder.add(language, raw);
  }
  return finder.take();
}

}  // namespace tessera
