#include "text/segment/stem.hpp"

#include <algorithm>

namespace tessera {

namespace {

using View = std::u16string_view;

/// Shorter words are their own stems.
constexpr size_t MIN_CHARS = 3;
/// Shorter ones are not the stems of others.
constexpr size_t SHARING_MIN_CHARS = 2;

constexpr StemException EXCEPTIONS[] = {
    {u"skis", u"ski"},     {u"skies", u"sky"},     {u"dying", u"die"},     {u"lying", u"lie"},
    {u"tying", u"tie"},    {u"idly", u"idl"},      {u"gently", u"gentl"},  {u"ugly", u"ugli"},
    {u"early", u"earli"},  {u"only", u"onli"},     {u"singly", u"singl"},  {u"sky", u"sky"},
    {u"news", u"news"},    {u"howe", u"howe"},     {u"atlas", u"atlas"},   {u"cosmos", u"cosmos"},
    {u"bias", u"bias"},    {u"andes", u"andes"},
};

/// Words that the plural leaves and that no other rule changes.
constexpr View INVARIANT[] = {u"inning", u"outing", u"canning",  u"herring",
                              u"earring", u"proceed", u"exceed", u"succeed"};

bool isVowel(char16_t letter) { return View(u"aeiouy").find(letter) != View::npos; }

/// A rule replaces an ending. The longest ending that a word has decides, even if its rule does not
/// apply.
struct Rule {
  View ending;
  View replacement;
};

constexpr Rule STEP_2[] = {
    {u"ational", u"ate"}, {u"ization", u"ize"}, {u"fulness", u"ful"}, {u"ousness", u"ous"},
    {u"iveness", u"ive"}, {u"tional", u"tion"}, {u"biliti", u"ble"},  {u"lessli", u"less"},
    {u"entli", u"ent"},   {u"ation", u"ate"},   {u"alism", u"al"},    {u"aliti", u"al"},
    {u"ousli", u"ous"},   {u"iviti", u"ive"},   {u"fulli", u"ful"},   {u"enci", u"ence"},
    {u"anci", u"ance"},   {u"abli", u"able"},   {u"izer", u"ize"},    {u"ator", u"ate"},
    {u"alli", u"al"},     {u"bli", u"ble"},     {u"ogi", u"og"},      {u"li", u""},
};

constexpr Rule STEP_3[] = {
    {u"ational", u"ate"}, {u"tional", u"tion"}, {u"alize", u"al"}, {u"icate", u"ic"},
    {u"iciti", u"ic"},    {u"ative", u""},      {u"ical", u"ic"},  {u"ness", u""},
    {u"ful", u""},
};

constexpr View STEP_4[] = {u"ement", u"ance", u"ence", u"able", u"ible", u"ment",
                           u"ant",   u"ent",  u"ism",  u"ate",  u"iti",  u"ous",
                           u"ive",   u"ize",  u"ion",  u"al",   u"er",   u"ic"};

/// A word while it is stemmed. A `Y` is a consonant.
class Stemmer {
 public:
  explicit Stemmer(View word) : word_(word) {
    for (size_t i = 0; i < word_.size(); i++) {
      if (word_[i] == u'y' && (i == 0 || isVowel(word_[i - 1]))) word_[i] = u'Y';
    }
    markRegions();
  }

  std::u16string stem() {
    removePlural();
    if (std::ranges::find(INVARIANT, View(word_)) == std::end(INVARIANT)) {
      removePast();
      replaceFinalY();
      replaceSuffix();
      shortenSuffix();
      removeSuffix();
      removeFinal();
    }
    std::ranges::replace(word_, u'Y', u'y');
    return word_;
  }

 private:
  void markRegions() {
    const size_t end = word_.size();
    const auto skip = [&](size_t at, bool vowels) {
      while (at < end && isVowel(word_[at]) == vowels) at++;
      return at;
    };
    // After the first vowel.
    vowel_ = std::min(end, skip(0, false) + 1);
    r1_ = std::min(end, skip(vowel_, true) + 1);
    for (const View start : {View(u"gener"), View(u"arsen"), View(u"commun")}) {
      if (word_.starts_with(start)) r1_ = start.size();
    }
    r2_ = std::min(end, skip(skip(r1_, false), true) + 1);
  }

  bool ends(View ending) const { return View(word_).ends_with(ending); }
  /// True if this many of the last letters are in the region.
  bool isIn(size_t region, size_t letters) const { return word_.size() >= region + letters; }
  void drop(size_t letters) { word_.resize(word_.size() - letters); }
  char16_t last(size_t back = 1) const { return word_[word_.size() - back]; }

  /// A vowel between consonants at the end, the last no w, x or Y; or a vowel and a consonant alone.
  bool endsShort(size_t length) const {
    if (length < 2 || !isVowel(word_[length - 2]) || isVowel(word_[length - 1])) return false;
    if (length == 2) return true;
    return !isVowel(word_[length - 3]) && View(u"wxY").find(word_[length - 1]) == View::npos;
  }

  void removePlural() {
    if (ends(u"sses")) return drop(2);
    if (ends(u"ied") || ends(u"ies")) return drop(word_.size() >= 5 ? 2 : 1);
    const bool isPlural = ends(u"s") && !ends(u"us") && !ends(u"ss");
    if (isPlural && vowel_ < word_.size() - 1) drop(1);
  }

  void removePast() {
    const size_t adverb = ends(u"ly") ? 2 : 0;
    const View base = View(word_).substr(0, word_.size() - adverb);
    if (base.ends_with(u"eed")) {
      if (base.size() >= r1_ + 3) word_.resize(base.size() - 1);
      return;
    }
    const size_t ending = base.ends_with(u"ed") ? 2 : base.ends_with(u"ing") ? 3 : 0;
    if (ending == 0 || base.size() < vowel_ + ending) return;
    word_.resize(base.size() - ending);
    if (ends(u"at") || ends(u"bl") || ends(u"iz")) {
      word_ += u'e';
    } else if (word_.size() >= 2 && last() == last(2) &&
               View(u"bdfgmnprt").find(last()) != View::npos) {
      drop(1);
    } else if (r1_ >= word_.size() && endsShort(word_.size())) {
      word_ += u'e';
    }
  }

  void replaceFinalY() {
    if (word_.size() >= 3 && (last() == u'y' || last() == u'Y') && !isVowel(last(2))) {
      word_.back() = u'i';
    }
  }

  void replaceSuffix() {
    for (const auto& [ending, replacement] : STEP_2) {
      if (!ends(ending)) continue;
      if (!isIn(r1_, ending.size())) return;
      const char16_t before = word_.size() > ending.size() ? last(ending.size() + 1) : u' ';
      if (ending == u"ogi" && before != u'l') return;
      if (ending == u"li" && View(u"cdeghkmnrt").find(before) == View::npos) return;
      drop(ending.size());
      word_ += replacement;
      return;
    }
  }

  void shortenSuffix() {
    for (const auto& [ending, replacement] : STEP_3) {
      if (!ends(ending)) continue;
      if (!isIn(ending == u"ative" ? r2_ : r1_, ending.size())) return;
      drop(ending.size());
      word_ += replacement;
      return;
    }
  }

  void removeSuffix() {
    for (const View ending : STEP_4) {
      if (!ends(ending)) continue;
      if (!isIn(r2_, ending.size())) return;
      const char16_t before = word_.size() > ending.size() ? last(ending.size() + 1) : u' ';
      if (ending == u"ion" && before != u's' && before != u't') return;
      return drop(ending.size());
    }
  }

  void removeFinal() {
    if (!isIn(r1_, 1)) return;
    if (last() == u'e') {
      if (isIn(r2_, 1) || !endsShort(word_.size() - 1)) drop(1);
    } else if (ends(u"ll") && isIn(r2_, 1)) {
      drop(1);
    }
  }

  std::u16string word_;
  /// Where the part after the first vowel starts, and Porter's regions R1 and R2.
  size_t vowel_ = 0;
  size_t r1_ = 0;
  size_t r2_ = 0;
};

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

}  // namespace

bool mayShareStem(View word) {
  return word.size() >= SHARING_MIN_CHARS &&
         std::ranges::all_of(word, [](char16_t c) { return c >= u'a' && c <= u'z'; });
}

size_t sharedLetters(View stem) {
  // The ending that a rule adds: `e`, as in hope for hoping; `i` for `y`; `l` or `ble`, as in sensibl for sensibility.
  const bool mayBeAdded = !stem.empty() && View(u"eil").find(stem.back()) != View::npos;
  const size_t added = stem.ends_with(u"ble") ? 2 : mayBeAdded ? 1 : 0;
  // A `z` may have been an `s`.
  return std::min(stem.size() - added, stem.rfind(u'z'));
}

std::span<const StemException> stemExceptions() { return EXCEPTIONS; }

/// No rule changes a word that ends in another letter.
static constexpr View CHANGING_LETTERS = u"cdegilmnrsty";

std::u16string stemOf(View word) {
  const bool isOwn = word.size() < MIN_CHARS || CHANGING_LETTERS.find(word.back()) == View::npos;
  if (isOwn || !mayShareStem(word)) return std::u16string(word);
  const std::u16string spelled = americanSpelling(word);
  for (const auto& [exception, stem] : EXCEPTIONS) {
    if (exception == spelled) return std::u16string(stem);
  }
  return Stemmer(spelled).stem();
}

}  // namespace tessera
