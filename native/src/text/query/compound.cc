#include "text/query/compound.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "text/segment/dictionary.hpp"
#include "text/segment/weights.hpp"

namespace tessera {

namespace {

/// The codes of languages that write compounds as one word.
constexpr std::string_view COMPOUNDING[] = {"de", "nl", "sv", "da", "no"};

/// Bounds in letters. They bound the work, too: at most `COMPOUND_MAX_CHARS` x `PART_MAX_CHARS` stems.
constexpr size_t COMPOUND_MIN_CHARS = 7;
constexpr size_t COMPOUND_MAX_CHARS = 40;
constexpr size_t PART_MIN_CHARS = 3;
constexpr size_t PART_MAX_CHARS = 24;
constexpr size_t PARTS_MAX = 4;

/// A division of the end of a word into parts.
struct Cut {
  size_t parts;
  size_t shortest;
  /// Length of the first part.
  size_t length;

  bool isBetterThan(const Cut& other) const {
    return parts != other.parts ? parts < other.parts : shortest > other.shortest;
  }
};

class Decompounder {
 public:
  Decompounder(const TextView& view, uint8_t language, std::u16string_view word)
      : view_(view), language_(language), word_(word) {}

  std::vector<std::u16string> parts() {
    std::vector<std::u16string> parts;
    const std::optional<Cut>& whole = cutFrom(0);
    if (!whole || whole->parts < 2 || whole->parts > PARTS_MAX) return parts;
    for (size_t at = 0; at < word_.size(); at += cuts_[at]->length) {
      parts.emplace_back(word_.substr(at, cuts_[at]->length));
    }
    return parts;
  }

 private:
  /// The best cut of the rest of the word from a position on; std::nullopt if it cannot be cut.
  const std::optional<Cut>& cutFrom(size_t at) {
    std::optional<Cut>& best = cuts_[at];
    if (isDone_[at]) return best;
    isDone_[at] = true;
    const size_t left = word_.size() - at;
    for (size_t length = PART_MIN_CHARS; length <= std::min(left, PART_MAX_CHARS); length++) {
      // A word has at least two parts, so the whole word does not count as one.
      if (length == word_.size() || (left > length && left - length < PART_MIN_CHARS)) continue;
      Cut cut{1, length, length};
      if (left > length) {
        if (!isHeld(word_.substr(at, length))) continue;
        const std::optional<Cut>& rest = cutFrom(at + length);
        if (!rest) continue;
        cut = {rest->parts + 1, std::min(length, rest->shortest), length};
      } else if (!isHeld(word_.substr(at, length))) {
        continue;
      }
      if (!best || cut.isBetterThan(*best)) best = cut;
    }
    return best;
  }

  /// Whether documents in the language hold a form of a part. Stems omit the letters that join parts.
  bool isHeld(std::u16string_view part) const {
    const uint32_t key = stemKey(part, language_);
    for (size_t s = 0; s < view_.segments().size(); s++) {
      const Range range = stemForms(view_.segments()[s], language_, key);
      for (uint32_t form = range.from; form < range.to; form++) {
        if (view_.formFrequency(s, language_, form) > 0) return true;
      }
    }
    return false;
  }

  const TextView& view_;
  const uint8_t language_;
  const std::u16string_view word_;
  std::array<std::optional<Cut>, COMPOUND_MAX_CHARS + 1> cuts_;
  std::array<bool, COMPOUND_MAX_CHARS + 1> isDone_{};
};

bool isCompounding(uint8_t language) {
  return std::ranges::find(COMPOUNDING, stemLanguages()[language]) != std::end(COMPOUNDING);
}

}  // namespace

std::vector<std::u16string> compoundParts(const TextView& view, std::u16string_view word) {
  if (word.size() < COMPOUND_MIN_CHARS || word.size() > COMPOUND_MAX_CHARS) return {};
  for (const uint8_t language : view.languages()) {
    if (!isCompounding(language) || !hasStem(word, language)) continue;
    auto parts = Decompounder(view, language, word).parts();
    if (!parts.empty()) return parts;
  }
  return {};
}

}  // namespace tessera
