// Patterns of paths and other texts: `*` is any part of a name, `**` also crosses `/`, a leading or inner folder `**`
// matches zero or more folders, `?` is one code point of a name, everything else is literal.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fields/field_value.hpp"

namespace tessera {

/// A set of states of a pattern, 32 in a word.
using GlobStates = std::vector<uint32_t>;

/// The progress of the comparison of a text.
struct GlobProgress {
  /// The next unit of the text; 0 before the beginning.
  size_t at = 0;
  GlobStates states;
};

/// A nondeterministic automaton. A state is the number of matched tokens, without stars, which let a state stay. All
/// states process a code point in a few operations per word, so a hostile pattern takes no longer than others for a
/// text of a million characters.
class Glob {
 public:
  explicit Glob(std::u16string_view pattern);
  Glob(const Glob&) = delete;
  Glob& operator=(const Glob&) = delete;

  /// Compares a part of a text, of at most about `most` units times words of states, and adds them to `work`. Nothing if
  /// the comparison must go on; then `progress` is for the next call.
  std::optional<bool> advance(ValueView text, GlobProgress& progress, size_t most, size_t& work) const;

 private:
  void addTransition(uint32_t state, char32_t literal);
  const GlobStates& advancesOf(char32_t codePoint) const;
  bool take(GlobStates& states, char32_t codePoint) const;

  /// The text before the first star or question mark.
  std::u16string prefix_;
  bool isLiteral_ = false;
  uint32_t last_ = 0;
  /// The states that a code point advances: for each code point of the pattern, and for all others.
  std::map<char32_t, GlobStates> advances_;
  /// The same for each ASCII character.
  std::array<const GlobStates*, 128> asciiAdvances_{};
  GlobStates anyAdvances_;
  /// The states that stay at a code point of a name, and at a slash.
  GlobStates stays_;
  GlobStates staysAtSlash_;
  /// The states that advance without a code point.
  GlobStates skips_;
};

}  // namespace tessera
