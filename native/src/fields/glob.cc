#include "fields/glob.hpp"

#include <algorithm>

namespace tessera {

namespace {

/// A part of a pattern.
enum class TokenKind {
  literal,
  /// One code point of a name.
  one,
  /// Any part of a name.
  star,
  /// Anything.
  globstar,
  /// Zero or more folders, with the slash at their end.
  folders,
};

struct GlobToken {
  TokenKind kind;
  char32_t literal = 0;

  bool isStar() const { return kind == TokenKind::star || kind == TokenKind::globstar; }
};

bool isHigh(char16_t unit) { return unit >= 0xd800 && unit < 0xdc00; }
bool isLow(char16_t unit) { return unit >= 0xdc00 && unit < 0xe000; }

char32_t joined(char16_t high, char16_t low) { return 0x10000 + ((high & 0x3ffu) << 10 | (low & 0x3ffu)); }

std::vector<char32_t> codePointsOf(std::u16string_view text) {
  std::vector<char32_t> codePoints;
  for (size_t at = 0; at < text.size(); at++) {
    const bool isPair = isHigh(text[at]) && at + 1 < text.size() && isLow(text[at + 1]);
    codePoints.push_back(isPair ? joined(text[at], text[at + 1]) : text[at]);
    if (isPair) at++;
  }
  return codePoints;
}

/// The tokens of a pattern. `folders` after `folders` is redundant, and left out.
std::vector<GlobToken> tokensOf(const std::vector<char32_t>& chars) {
  std::vector<GlobToken> tokens;
  const auto charAt = [&](size_t at) { return at < chars.size() ? chars[at] : 0; };
  for (size_t at = 0; at < chars.size();) {
    size_t stars = 0;
    while (charAt(at + stars) == U'*') stars++;
    const bool beginsName = at == 0 || chars[at - 1] == U'/';
    if (stars == 2 && beginsName && charAt(at + 2) == U'/') {
      const bool isRepeated = !tokens.empty() && tokens.back().kind == TokenKind::folders;
      if (!isRepeated) tokens.push_back({TokenKind::folders});
      at += 3;
    } else if (stars > 0) {
      tokens.push_back({stars == 1 ? TokenKind::star : TokenKind::globstar});
      at += stars;
    } else {
      tokens.push_back(chars[at] == U'?' ? GlobToken{TokenKind::one} : GlobToken{TokenKind::literal, chars[at]});
      at++;
    }
  }
  return tokens;
}

bool hasState(const GlobStates& states, uint32_t state) { return (states[state >> 5] >> (state & 31) & 1) != 0; }

void addState(GlobStates& states, uint32_t state) { states[state >> 5] |= 1u << (state & 31); }

}  // namespace

Glob::Glob(std::u16string_view pattern) : prefix_(pattern.substr(0, pattern.find_first_of(u"*?"))) {
  isLiteral_ = prefix_.size() == pattern.size();
  if (isLiteral_) return;
  std::vector<GlobToken> tokens = tokensOf(codePointsOf(pattern));
  tokens.erase(tokens.begin(), tokens.begin() + static_cast<ptrdiff_t>(codePointsOf(prefix_).size()));
  const auto states = std::ranges::count_if(tokens, [](const GlobToken& token) { return !token.isStar(); });
  last_ = static_cast<uint32_t>(states);
  anyAdvances_ = stays_ = staysAtSlash_ = skips_ = GlobStates((last_ >> 5) + 1);
  uint32_t state = 0;
  for (const GlobToken& token : tokens) {
    const bool isFolders = token.kind == TokenKind::folders;
    if (token.isStar() || isFolders) addState(stays_, state);
    if (token.kind == TokenKind::globstar || isFolders) addState(staysAtSlash_, state);
    if (isFolders) addState(skips_, state);
    if (token.kind == TokenKind::one) addState(anyAdvances_, state);
    if (!token.isStar()) state++;
  }
  advances_.emplace(U'/', GlobStates(anyAdvances_.size()));
  state = 0;
  for (const GlobToken& token : tokens) {
    if (token.kind == TokenKind::folders) addTransition(state, U'/');
    if (token.kind == TokenKind::literal) addTransition(state, token.literal);
    if (!token.isStar()) state++;
  }
  for (char32_t ascii = 0; ascii < asciiAdvances_.size(); ascii++) {
    const auto found = advances_.find(ascii);
    asciiAdvances_[ascii] = found == advances_.end() ? &anyAdvances_ : &found->second;
  }
}

void Glob::addTransition(uint32_t state, char32_t literal) {
  addState(advances_.try_emplace(literal, anyAdvances_).first->second, state);
}

const GlobStates& Glob::advancesOf(char32_t codePoint) const {
  if (codePoint < asciiAdvances_.size()) return *asciiAdvances_[codePoint];
  const auto found = advances_.find(codePoint);
  return found == advances_.end() ? anyAdvances_ : found->second;
}

std::optional<bool> Glob::advance(ValueView text, GlobProgress& progress, size_t most, size_t& work) const {
  auto& [at, states] = progress;
  if (at == 0) {
    work += prefix_.size();
    if (!startsWith(text, prefix_)) return false;
    if (isLiteral_) return text.length() == prefix_.size();
    at = prefix_.size();
    states.assign(anyAdvances_.size(), 0);
    states[0] = 1;
    if (hasState(skips_, 0)) addState(states, 1);
  }
  const size_t length = text.length();
  const size_t begin = at;
  const size_t end = std::min(length, begin + std::max<size_t>(1, most / states.size()));
  bool isPossible = true;
  while (isPossible && at < end) {
    const char16_t unit = text.unit(at++);
    const bool isPair = isHigh(unit) && at < length && isLow(text.unit(at));
    isPossible = take(states, isPair ? joined(unit, text.unit(at)) : unit);
    if (isPair) at++;
  }
  work += (at - begin) * states.size();
  if (!isPossible) return false;
  if (at < length) return std::nullopt;
  return hasState(states, last_);
}

/// Returns false if the set of states is empty.
bool Glob::take(GlobStates& states, char32_t codePoint) const {
  const GlobStates& advances = advancesOf(codePoint);
  const GlobStates& stays = codePoint == U'/' ? staysAtSlash_ : stays_;
  uint32_t carried = 0;
  uint32_t skipped = 0;
  uint32_t any = 0;
  for (size_t w = 0; w < states.size(); w++) {
    const uint32_t word = states[w];
    const uint32_t leaving = word & advances[w];
    const uint32_t entered = leaving << 1 | carried;
    const uint32_t skipping = entered & skips_[w];
    const uint32_t all = entered | (word & stays[w]) | skipping << 1 | skipped;
    carried = leaving >> 31;
    skipped = skipping >> 31;
    states[w] = all;
    any |= all;
  }
  return any != 0;
}

}  // namespace tessera
