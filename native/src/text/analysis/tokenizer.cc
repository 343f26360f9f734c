#include "text/analysis/tokenizer.hpp"

#include "text/analysis/unicode.hpp"
#include "text/analysis/words.hpp"

namespace tessera {

namespace {

constexpr size_t UNITS = 0x10000;

/// True if a code unit is a character of its own next to any other.
bool standsAlone(char16_t unit) {
  const CharacterProperties& own = propertiesOf(unit);
  const bool isSurrogate = unit >= 0xd800 && unit <= 0xdfff;
  switch (own.grapheme) {
    case OTHER_BREAK: case CONTROL: case OPEN_SYLLABLE: case CLOSED_SYLLABLE: case PICTOGRAPH:
      return !isSurrogate && own.conjunct == NO_CONJUNCT && !own.has(HANGUL_LETTER);
    default:
      return false;
  }
}

/// A long token without its end, which is not cut in the middle of a surrogate pair.
std::u16string truncated(std::u16string token) {
  if (token.size() <= MAX_WORD_CHARS) return token;
  const char16_t last = token[MAX_WORD_CHARS - 1];
  token.resize(last >= 0xd800 && last <= 0xdbff ? MAX_WORD_CHARS - 1 : MAX_WORD_CHARS);
  return token;
}

/// Puts characters together to tokens.
class CharacterRuns {
 public:
  void add(UnitKind kind, std::u16string_view folded, size_t start, size_t end) {
    if (kind == IGNORED_UNIT) return;
    if (kind != kind_) endRun();
    kind_ = kind;
    if (kind == PICTOGRAPH_UNIT) {
      addPictographs(folded, start, end);
    } else if (kind == SPACED_UNIT) {
      if (text_.empty()) start_ = start;
      // A token is cut to this length, so the rest is not kept.
      if (text_.size() < MAX_WORD_CHARS) text_ += folded;
      end_ = end;
    } else if (kind == UNSPACED_UNIT) {
      if (!text_.empty()) push(text_ + std::u16string(folded), start_, end);
      text_ = folded;
      start_ = start;
      end_ = end;
    }
  }

  std::vector<TokenSpan> finish() {
    endRun();
    return std::move(tokens_);
  }

 private:
  void endRun() {
    if (!text_.empty()) push(text_, start_, end_);
    text_.clear();
  }

  void push(std::u16string token, size_t start, size_t end) {
    tokens_.push_back({start, end, truncated(std::move(token))});
  }

  /// Adds flags, and the parts of a joined pictograph.
  void addPictographs(std::u16string_view character, size_t start, size_t end) {
    const auto isRegional = [&](size_t at) {
      return at < character.size() && propertiesOf(codePointAt(character, at)).grapheme == REGIONAL;
    };
    for (size_t at = 0, next = 0; at < character.size(); at = next) {
      const char32_t own = codePointAt(character, at);
      next = at + unitsIn(own);
      const bool isFlag = isRegional(at);
      if (!isFlag && propertiesOf(own).grapheme != PICTOGRAPH) continue;
      if (isFlag && isRegional(next)) next += unitsIn(codePointAt(character, next));
      push(std::u16string(character.substr(at, next - at)), start, end);
    }
  }

  std::vector<TokenSpan> tokens_;
  /// The run that is read.
  UnitKind kind_ = SEPARATOR_UNIT;
  std::u16string text_;
  size_t start_ = 0;
  size_t end_ = 0;
};

/// Collects the tokens of a text.
struct TokenSink : WordSink {
  explicit TokenSink(const Tokenizer& own) : tokenizer(own) {}

  void token(std::u16string_view token, size_t start, size_t end) {
    spans.push_back({start, end, std::u16string(token)});
  }
  void other(std::u16string_view piece, size_t offset) {
    tokenizer.eachToken(piece, [&](std::u16string_view own, size_t start, size_t end) {
      token(own, offset + start, offset + end);
    });
  }

  const Tokenizer& tokenizer;
  std::vector<TokenSpan> spans;
};

/// Collects the spellings and signs of a text. The token of a spelling is its text.
struct SpellingSink : WordSink {
  void joined(std::u16string_view text, size_t start, size_t end) {
    spellings.push_back({start, end, std::u16string(text)});
  }
  void signs(std::u16string_view text, size_t start) {
    spans.push_back({start, start + text.size(), std::u16string(text)});
  }

  std::vector<TokenSpan> spellings;
  std::vector<TokenSpan> spans;
};

}  // namespace

const Tokenizer& Tokenizer::instance() {
  // Never destroyed, because worker threads may still read it while the process exits.
  static const Tokenizer* const own = new Tokenizer();
  return *own;
}

Tokenizer::Tokenizer() : kinds_(UNITS), folded_(UNITS, u'\0') {
  std::u16string folded;
  for (size_t i = 0; i < UNITS; i++) {
    const auto unit = static_cast<char16_t>(i);
    const UnitKind kind = foldCharacter({&unit, 1}, folded);
    const bool isRun = kind == SPACED_UNIT || kind == UNSPACED_UNIT || kind == SEPARATOR_UNIT;
    const bool isSimple = isRun && folded.size() <= 1 && standsAlone(unit);
    kinds_[i] = isSimple ? kind : COMPLEX_UNIT;
    folded_[i] = folded.empty() ? unit : folded[0];
  }
}

std::vector<TokenSpan> Tokenizer::complexTokensOf(std::u16string_view piece) const {
  CharacterRuns runs;
  std::u16string folded;
  for (size_t start = 0, end = 0; start < piece.size(); start = end) {
    end = graphemeEnd(piece, start);
    const UnitKind kind = foldCharacter(piece.substr(start, end - start), folded);
    runs.add(kind, folded, start, end);
  }
  return runs.finish();
}

std::vector<TokenSpan> Tokenizer::tokensOf(std::u16string_view text) const {
  TokenSink sink(*this);
  eachWord(text, sink);
  return std::move(sink.spans);
}

std::vector<TokenSpan> Tokenizer::spellingsOf(std::u16string_view text) const {
  SpellingSink sink;
  eachWord(text, sink);
  for (const auto& [start, end, spelling] : sink.spellings) {
    for (TokenSpan& own : tokensOf(spelling)) sink.spans.push_back({start, end, std::move(own.token)});
  }
  return std::move(sink.spans);
}

size_t Tokenizer::characterStart(std::u16string_view text, size_t position) const {
  constexpr size_t REACH = 32;
  for (size_t at = position; at > 0 && position - at <= REACH; at--) {
    if (at >= text.size() || text[at] < 0x80 || kindOf(text[at]) != COMPLEX_UNIT) return at;
  }
  const bool isSecond = text[position] >= 0xdc00 && text[position] <= 0xdfff;
  return isSecond && position > 0 ? position - 1 : position;
}

}  // namespace tessera
