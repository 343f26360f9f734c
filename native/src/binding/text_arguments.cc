#include "binding/text_arguments.hpp"

#include <cstring>

#include "text/query/analyse_query.hpp"

namespace tessera {

TextThread& textThread() {
  static thread_local TextThread thread;
  return thread;
}

uint32_t viewOf(const Named& given) { return integerOf(given, 0, UINT32_MAX); }

TextView& openViewOf(const Named& given) {
  const auto view = textThread().views.find(viewOf(given));
  if (view == textThread().views.end()) throw Napi::Error::New(given.env, "the view is not open");
  return view->second;
}

Napi::Object pageOf(Napi::Env env, std::string_view json, uint64_t total, bool more,
                    const std::string& progress) {
  auto bytes = Napi::Uint8Array::New(env, json.size());
  std::memcpy(bytes.Data(), json.data(), json.size());
  const auto page = Napi::Object::New(env);
  page.Set("json", bytes);
  page.Set("total", Napi::Number::New(env, static_cast<double>(total)));
  page.Set("more", Napi::Boolean::New(env, more));
  page.Set("progress", Napi::String::New(env, more ? progress : std::string()));
  return page;
}

/// The breaks of a text by a function of the caller: pairs of an end and 1 for a word or 0.
static std::vector<WordBreak> breaksBy(const Napi::Function& wordBreaks, const Named& query, size_t length) {
  const Napi::Value given = wordBreaks.Call({query.value});
  const auto numbers = arrayOf<uint32_t>({query.env, given, "the breaks of words"}, napi_uint32_array);
  std::vector<WordBreak> breaks;
  size_t last = 0;
  for (size_t i = 0; i + 1 < numbers.size(); i += 2) {
    if (numbers[i] <= last) throwTypeError(query.env, "the breaks of words must ascend");
    last = numbers[i];
    breaks.push_back({last, numbers[i + 1] != 0});
  }
  if (last != length) throwTypeError(query.env, "the breaks of words must end with the query");
  return breaks;
}

AnalysedQuery analysedQueryOf(const Fields& request) {
  const Named query = request["query"], wordBreaks = request["wordBreaks"];
  if (query.value.IsNull()) return {};
  const std::u16string text = text16Of(query);
  if (!wordBreaks.value.IsFunction()) throwTypeError(query.env, "wordBreaks must be a function");
  return analyseQuery(text, [&] { return breaksBy(wordBreaks.value.As<Napi::Function>(), query, text.size()); });
}

}  // namespace tessera
