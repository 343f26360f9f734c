#include "text/segment/stem.hpp"

#include <runtime/api.h>

#include <algorithm>
#include <array>
#include <new>
#include <vector>

#include "common/keyed_hash.hpp"
#include "common/utf8.hpp"

/// Snowball's languages and their codes. English comes first, because `ENGLISH` is 0.
#define TESSERA_STEMMERS(X)                                                                      \
  X(english, "en")                                                                               \
  X(arabic, "ar") X(armenian, "hy") X(basque, "eu") X(catalan, "ca") X(danish, "da")             \
  X(dutch, "nl") X(finnish, "fi") X(french, "fr") X(german, "de") X(greek, "el") X(hindi, "hi")  \
  X(hungarian, "hu") X(indonesian, "id") X(irish, "ga") X(italian, "it") X(lithuanian, "lt")     \
  X(nepali, "ne") X(norwegian, "no") X(portuguese, "pt") X(romanian, "ro") X(russian, "ru")      \
  X(serbian, "sr") X(spanish, "es") X(swedish, "sv") X(tamil, "ta") X(turkish, "tr") X(yiddish, "yi")

extern "C" {
#define TESSERA_DECLARE(name, code)                  \
  SN_env* name##_UTF_8_create_env(void);             \
  int name##_UTF_8_stem(SN_env* environment);        \
  void name##_UTF_8_close_env(SN_env* environment);
TESSERA_STEMMERS(TESSERA_DECLARE)
#undef TESSERA_DECLARE
}

namespace tessera {

namespace {

using View = std::u16string_view;

struct Algorithm {
  SN_env* (*create)();
  int (*stem)(SN_env*);
  void (*close)(SN_env*);
};

constexpr Algorithm ALGORITHMS[] = {
#define TESSERA_ALGORITHM(name, code) \
  {name##_UTF_8_create_env, name##_UTF_8_stem, name##_UTF_8_close_env},
    TESSERA_STEMMERS(TESSERA_ALGORITHM)
#undef TESSERA_ALGORITHM
};

constexpr const char* CODES[] = {
#define TESSERA_CODE(name, code) code,
    TESSERA_STEMMERS(TESSERA_CODE)
#undef TESSERA_CODE
};
static_assert(std::size(CODES) == STEM_LANGUAGES);

/// Code units from `first` to `last`.
struct Block {
  char16_t first;
  char16_t last;
};

/// The letters of a language beyond those of ASCII, unless it is Latin.
struct Script {
  std::string_view code;
  Block block;
};
constexpr Script OTHER_SCRIPTS[] = {
    {"ar", {0x600, 0x6ff}}, {"hy", {0x530, 0x58f}}, {"el", {0x370, 0x3ff}}, {"hi", {0x900, 0x97f}},
    {"ne", {0x900, 0x97f}}, {"ru", {0x400, 0x52f}}, {"ta", {0xb80, 0xbff}}, {"yi", {0x590, 0x5ff}},
};
constexpr Block CYRILLIC{0x400, 0x52f};
constexpr Block LATIN[] = {{u'a', u'z'}, {0xc0, 0x24f}, {0x1e00, 0x1eff}};

bool isIn(char16_t unit, const Block& block) { return unit >= block.first && unit <= block.last; }

bool isLatinLetter(char16_t unit) {
  return std::ranges::any_of(LATIN, [&](const Block& block) { return isIn(unit, block); });
}

const Script* scriptOf(uint8_t language) {
  const auto script = std::ranges::find(OTHER_SCRIPTS, CODES[language], &Script::code);
  return script == std::end(OTHER_SCRIPTS) ? nullptr : script;
}

/// Serbian is written in both scripts.
bool isCyrillicToo(uint8_t language) { return std::string_view(CODES[language]) == "sr"; }

/// The memory of Snowball's stemmers, which belongs to a thread and is made when a language is first used.
class Stemmers {
 public:
  Stemmers() = default;
  ~Stemmers() {
    for (size_t i = 0; i < STEM_LANGUAGES; i++) {
      if (environments_[i] != nullptr) ALGORITHMS[i].close(environments_[i]);
    }
  }
  Stemmers(const Stemmers&) = delete;
  Stemmers& operator=(const Stemmers&) = delete;

  /// The stem in UTF-8, until the next call.
  std::span<const uint8_t> stem(View word, uint8_t language) {
    SN_env*& environment = environments_[language];
    if (environment == nullptr) environment = ALGORITHMS[language].create();
    if (environment == nullptr) throw std::bad_alloc();
    encode(word);
    const auto* bytes = reinterpret_cast<const symbol*>(bytes_.data());
    const bool isDone = SN_set_current(environment, static_cast<int>(bytes_.size()), bytes) == 0 &&
                        ALGORITHMS[language].stem(environment) >= 0;
    if (!isDone) throw std::bad_alloc();
    return {environment->p, static_cast<size_t>(environment->l)};
  }

 private:
  /// Words with stems have no letters beyond the basic plane.
  void encode(View word) {
    bytes_.clear();
    for (const char16_t unit : word) {
      const bool isSurrogate = unit >= 0xd800 && unit <= 0xdfff;
      appendUtf8(bytes_, isSurrogate ? u'\ufffd' : unit);
    }
  }

  std::array<SN_env*, STEM_LANGUAGES> environments_{};
  std::string bytes_;
};

Stemmers& stemmers() {
  static thread_local Stemmers own;
  return own;
}

/// Endings with the British `s` that are spelled with `z` before a word is stemmed.
constexpr View BRITISH[] = {u"isational", u"isations", u"isation", u"ising", u"ises",
                            u"ised",      u"isers",    u"iser",    u"ise"};

/// British spelling: organise, organisation. Not revise or precise, whose nouns end in -ision.
std::u16string americanSpelling(View word) {
  for (const View ending : BRITISH) {
    if (!word.ends_with(ending)) continue;
    const View head = word.substr(0, word.size() - ending.size());
    const bool isPlain = head.size() >= 3 && head.back() != u'c' && head.back() != u'v';
    const bool isIc = head.size() >= 4 && head.ends_with(u"ic");
    if (!isPlain && !isIc) continue;
    std::u16string spelled(word);
    spelled[head.size() + 1] = u'z';
    return spelled;
  }
  return std::u16string(word);
}

std::span<const uint8_t> stemBytes(View word, uint8_t language) {
  return language == ENGLISH ? stemmers().stem(americanSpelling(word), language)
                             : stemmers().stem(word, language);
}

/// FNV-1a.
constexpr uint32_t HASH_START = 0x811c9dc5;
constexpr uint32_t HASH_FACTOR = 0x01000193;

uint32_t newStemKey(View word, uint8_t language) {
  uint32_t hash = HASH_START;
  for (const uint8_t byte : stemBytes(word, language)) hash = (hash ^ byte) * HASH_FACTOR;
  return hash;
}

}  // namespace

std::span<const char* const> stemLanguages() { return CODES; }

bool isLatin(uint8_t language) { return scriptOf(language) == nullptr; }

bool hasStem(View word, uint8_t language) {
  if (word.empty()) return false;
  const auto isWritten = [&](const Block& block) {
    return std::ranges::all_of(word, [&](char16_t unit) { return isIn(unit, block); });
  };
  if (const Script* script = scriptOf(language)) return isWritten(script->block);
  return std::ranges::all_of(word, isLatinLetter) || (isCyrillicToo(language) && isWritten(CYRILLIC));
}

std::u16string stemOf(View word, uint8_t language) {
  std::u16string stem;
  decodeUtf8(stemBytes(word, language), stem);
  return stem;
}

/// The cache of the keys of recent words: a query needs nearly the same keys in all segments and views.
struct KnownKey {
  std::u16string word;
  uint32_t key = 0;
  uint8_t language = 0;
};
static constexpr size_t KNOWN_KEYS = 4'096;

uint32_t stemKey(View word, uint8_t language) {
  static thread_local std::vector<KnownKey> keys(KNOWN_KEYS);
  KnownKey& known = keys[(KeyedHash()(word) + language) % KNOWN_KEYS];
  if (known.word != word || known.language != language) {
    known = {std::u16string(word), newStemKey(word, language), language};
  }
  return known.key;
}

}  // namespace tessera
