// The stems of English words.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace tessera {

/// The stem of an English word by the Snowball algorithm (Porter 2). It only groups the forms of a
/// word: a form with the same stem counts less than the word itself, so that words of other languages
/// lose little when they share a stem. Words with other than lower-case ASCII letters are their own
/// stem.
std::u16string stemOf(std::u16string_view word);

/// This many letters at the start of a stem are those of every word that has it, exceptions aside.
size_t sharedLetters(std::u16string_view stem);

/// True if other words may have the same stem.
bool mayShareStem(std::u16string_view word);

/// A word and its stem.
struct StemException {
  std::u16string_view word;
  std::u16string_view stem;
};

/// Words whose stems the rules do not give.
std::span<const StemException> stemExceptions();

}  // namespace tessera
