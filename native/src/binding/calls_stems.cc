// The call that makes the table of stems of a segment.
#include <algorithm>

#include "binding/calls.hpp"
#include "binding/text_arguments.hpp"
#include "text/segment/stem_table.hpp"

namespace tessera {

namespace {

/// Numbers per form: language, key, term.
constexpr size_t FORM_NUMBERS = 3;

bool isRising(std::span<const uint32_t> starts, size_t end) {
  return !starts.empty() && std::ranges::is_sorted(starts) && starts.back() <= end;
}

StemSource sourceOf(const Fields& given) {
  const Named documents = given["languages"];
  const StemSource source{arrayOf<uint8_t>(documents, napi_uint8_array),
                          arrayOf<uint32_t>(given["postingStart"], napi_uint32_array),
                          arrayOf<uint32_t>(given["postings"], napi_uint32_array)};
  const bool fits = isRising(source.postingStart, source.postings.size()) &&
                    std::ranges::all_of(source.languages, [](uint8_t l) { return l < STEM_LANGUAGES; }) &&
                    std::ranges::all_of(source.postings, [&](uint32_t posting) {
                      return posting >> POSTING_DOCUMENT_SHIFT < source.languages.size();
                    });
  if (!fits) throwTypeError(documents.env, "the postings do not fit the documents");
  return source;
}

std::vector<StemForm> formsIn(const Named& given, const StemSource& source) {
  const auto numbers = arrayOf<uint32_t>(given, napi_uint32_array);
  std::vector<StemForm> forms;
  for (size_t i = 0; i + FORM_NUMBERS <= numbers.size(); i += FORM_NUMBERS) {
    const StemForm form{numbers[i], numbers[i + 1], numbers[i + 2]};
    if (form.language >= STEM_LANGUAGES || form.term >= source.terms()) {
      throwTypeError(given.env, "a form is of no language or no term");
    }
    forms.push_back(form);
  }
  return forms;
}

/// Adds the forms of all terms in the dictionary.
void addForms(const Fields& given, const StemSource& source, std::vector<StemForm>& forms) {
  const Named first = given["termStart"];
  if (first.value.IsUndefined()) return;
  const auto starts = arrayOf<uint32_t>(first, napi_uint32_array);
  const auto units = arrayOf<uint16_t>(given["termChars"], napi_uint16_array);
  const auto functional = arrayOf<uint8_t>(given["functional"], napi_uint8_array);
  const bool fits = isRising(starts, units.size()) && starts.size() == source.terms() + 1 &&
                    functional.size() == source.terms();
  if (!fits) throwTypeError(first.env, "termStart does not fit termChars");
  const std::u16string_view chars(reinterpret_cast<const char16_t*>(units.data()), units.size());
  for (uint32_t term = 0; term < source.terms(); term++) {
    const std::u16string_view word = chars.substr(starts[term], starts[term + 1] - starts[term]);
    addStemForms(source, term, word, functional[term] != 0, forms);
  }
}

Napi::Value arrayOfNumbers(Napi::Env env, const std::vector<uint32_t>& numbers) {
  auto array = Napi::Uint32Array::New(env, numbers.size());
  std::ranges::copy(numbers, array.Data());
  return array;
}

}  // namespace

Napi::Value stemTable(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const Fields given(info, 0);
  const StemSource source = sourceOf(given);
  std::vector<StemForm> forms = formsIn(given["forms"], source);
  addForms(given, source, forms);
  const StemTable table = stemTableOf(source, std::move(forms));
  const auto result = Napi::Object::New(env);
  result.Set("stemStart", arrayOfNumbers(env, table.starts));
  result.Set("stemKeys", arrayOfNumbers(env, table.keys));
  result.Set("stemTerms", arrayOfNumbers(env, table.terms));
  result.Set("stemCounts", arrayOfNumbers(env, table.counts));
  return result;
}

}  // namespace tessera
