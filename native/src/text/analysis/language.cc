#include "text/analysis/language.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <unordered_set>
#include <vector>

#include "common/keyed_hash.hpp"
#include "text/analysis/function_words.hpp"
#include "text/analysis/unicode.hpp"
#include "text/analysis/words.hpp"
#include "text/page/markdown_units.hpp"
#include "text/segment/stem.hpp"

namespace tessera {

namespace {

/// The text from which the script of a document is known, and the minimum share of its letters. Spaces and code are the
/// rest.
constexpr size_t SAMPLE_CHARS = 2'000;
constexpr double SCRIPT_SHARE = 0.3;
/// Tokens of a text that its language is detected by.
constexpr size_t SAMPLE_TOKENS = 1'000;
/// Minimum votes, and their minimum share of the distinct words. Fewer are chance.
constexpr double LEAST_VOTES = 3;
constexpr double LEAST_SHARE = 0.08;
/// Minimum votes as a multiple of those for English, which texts of all languages quote.
constexpr double CLEARLY_MORE = 1.2;

std::optional<uint8_t> numberOf(std::string_view code) {
  const auto codes = stemLanguages();
  const auto found = std::ranges::find(codes, code, [](const char* own) { return std::string_view(own); });
  if (found == codes.end()) return std::nullopt;
  return static_cast<uint8_t>(found - codes.begin());
}

/// The code of a language that has another name.
std::string_view codeNamed(std::string_view name) {
  const std::string entry = std::string(name) + " ";
  const std::string_view names = languageNames();
  for (size_t at = 1; at < names.size();) {
    const size_t end = names.find_first_of("\t\n", at);
    if (names.substr(at).starts_with(entry)) return names.substr(at + entry.size(), end - at - entry.size());
    at = end + 1;
  }
  return name;
}

/// The code that a tag of Unicode locales begins with: letters, but not four of them, which would be a script. Nothing if
/// the parts of the tag are too long or have other characters.
std::optional<std::string_view> codeIn(std::string_view tag) {
  constexpr size_t MAX_SUBTAG_CHARS = 8, SCRIPT_CHARS = 4;
  const std::string_view code = tag.substr(0, tag.find('-'));
  size_t chars = 0;
  for (const char own : tag) {
    const auto unit = static_cast<unsigned char>(own);
    const bool isWithin = chars < MAX_SUBTAG_CHARS && (isLetter(unit) || isDigit(unit));
    if (own == '-' ? chars == 0 : !isWithin) return std::nullopt;
    chars = own == '-' ? 0 : chars + 1;
  }
  const bool isCode = code.size() > 1 && code.size() != SCRIPT_CHARS &&
                      std::ranges::none_of(code, [](unsigned char unit) { return isDigit(unit); });
  return isCode && chars > 0 ? std::optional(code) : std::nullopt;
}

/// The language that is the only one of a text's script.
std::optional<uint8_t> languageOfScript(std::u16string_view text) {
  constexpr std::array<std::string_view, 3> CODES_OF_SCRIPTS = {"el", "hy", "ta"};
  std::array<size_t, CODES_OF_SCRIPTS.size()> letters{};
  const std::u16string_view sample = text.substr(0, SAMPLE_CHARS);
  for (size_t at = 0; at < sample.size();) {
    const char32_t own = codePointAt(sample, at);
    const uint8_t script = propertiesOf(own).script;
    if (script != UNSTEMMED && script != STEMMED) letters[script - GREEK]++;
    at += unitsIn(own);
  }
  for (size_t i = 0; i < letters.size(); i++) {
    const double least = SCRIPT_SHARE * static_cast<double>(sample.size());
    if (static_cast<double>(letters[i]) > least) return numberOf(CODES_OF_SCRIPTS[i]);
  }
  return std::nullopt;
}

/// The language with the most function words among the tokens.
uint8_t languageOfWords(std::span<const int32_t> tokens, const std::function<uint32_t(int32_t)>& bitsOf) {
  const auto lists = functionWordLists();
  std::vector<double> votes(lists.size(), 0);
  std::unordered_set<uint64_t, KeyedHash> words;
  for (const int32_t token : tokens.first(std::min(tokens.size(), SAMPLE_TOKENS))) {
    if (!words.insert(static_cast<uint32_t>(token)).second) continue;
    const uint32_t bits = bitsOf(token);
    // A word of many languages is weak evidence.
    const double vote = 1.0 / std::max(std::popcount(bits), 1);
    for (uint32_t rest = bits; rest != 0; rest &= rest - 1) votes[std::countr_zero(rest)] += vote;
  }
  const auto most = std::ranges::max_element(votes);
  const double least = std::max(LEAST_VOTES, LEAST_SHARE * static_cast<double>(words.size()));
  const bool isClear = *most >= least && *most > CLEARLY_MORE * votes[0];
  return isClear ? numberOf(lists[most - votes.begin()].code).value_or(ENGLISH) : ENGLISH;
}

/// The language that the frontmatter states.
std::optional<uint8_t> languageStated(std::span<const FrontmatterEntry> frontmatter) {
  for (const auto& [key, value] : frontmatter) {
    std::u16string name(key);
    std::ranges::transform(name, name.begin(), lowerAscii);
    if ((name == u"lang" || name == u"language") && !trimmed(value).empty()) return languageNamed(value);
  }
  return std::nullopt;
}

}  // namespace

std::optional<uint8_t> languageNamed(std::u16string_view value) {
  std::string tag;
  for (const char16_t unit : trimmed(value)) {
    if (unit >= 0x80) return std::nullopt;
    tag += static_cast<char>(unit == u'_' ? u'-' : lowerAscii(unit));
  }
  if (const auto named = numberOf(codeNamed(tag))) return named;
  const auto code = codeIn(tag);
  if (!code) return std::nullopt;
  // The names of languages, which are longer, are not codes.
  constexpr size_t MAX_CODE_CHARS = 3;
  return code->size() > MAX_CODE_CHARS ? ENGLISH : numberOf(codeNamed(*code)).value_or(ENGLISH);
}

uint8_t languageOf(std::span<const FrontmatterEntry> frontmatter, std::u16string_view content,
                   std::span<const int32_t> tokens, const std::function<uint32_t(int32_t)>& bitsOf) {
  if (const auto stated = languageStated(frontmatter)) return *stated;
  if (const auto own = languageOfScript(content)) return *own;
  return languageOfWords(tokens, bitsOf);
}

}  // namespace tessera
