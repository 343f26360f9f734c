#include "text/analysis/function_words.hpp"

#include <functional>
#include <iterator>
#include <string>
#include <unordered_map>

#include "common/keyed_hash.hpp"
#include "text/analysis/tokenizer.hpp"

namespace tessera {

namespace {

constexpr FunctionWordList LISTS[] = {
#include "text/analysis/function_words.inc"
};
constexpr size_t MAX_LANGUAGES = 32;
/// The first languages, whose function words count in queries. Those of the others only detect the language of a text.
constexpr size_t QUERY_LANGUAGES = 24;
static_assert(std::size(LISTS) > QUERY_LANGUAGES && std::size(LISTS) <= MAX_LANGUAGES);

/// The languages by token.
using Languages = std::unordered_map<std::u16string, uint32_t, KeyedHash, std::equal_to<>>;

Languages readLists() {
  Languages read;
  for (size_t language = 0; language < std::size(LISTS); language++) {
    for (const TokenSpan& own : Tokenizer::instance().tokensOf(LISTS[language].words)) {
      read[own.token] |= uint32_t{1} << language;
    }
  }
  return read;
}

}  // namespace

std::span<const FunctionWordList> functionWordLists() { return LISTS; }

uint32_t languageBits(std::u16string_view token) {
  // Never destroyed, because worker threads may still read it while the process exits.
  static const Languages* const languages = new Languages(readLists());
  const auto found = languages->find(token);
  return found == languages->end() ? 0 : found->second;
}

uint32_t languagesOf(std::u16string_view token) {
  return languageBits(token) & ((uint32_t{1} << QUERY_LANGUAGES) - 1);
}

}  // namespace tessera
