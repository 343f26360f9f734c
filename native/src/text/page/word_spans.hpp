// Finds the words of a query in a text.
#pragma once
#include <bitset>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/keyed_hash.hpp"
#include "text/analysis/tokenizer.hpp"
#include "text/page/chunk_texts.hpp"
#include "text/segment/term_marks.hpp"

namespace tessera {

/// The position in a query of the word that a token matches, plus 1; 0 without a match. The token may be a part of a
/// word that is written apart.
struct TokenMatch {
  uint8_t word;
  bool isPart;
};
using KnownToken = std::pair<const std::u16string, TokenMatch>;

/// Where a text holds a word of a query.
struct WordSpan {
  /// In UTF-16 code units, half-open.
  size_t start;
  size_t end;
  /// The position of the word in the query.
  size_t word;
  /// The token that was found; null for the joined parts of a word.
  const KnownToken* token = nullptr;
};

/// A word of a query that texts write as several.
struct ApartWord {
  size_t word;
  std::vector<std::u16string> parts;
  bool operator==(const ApartWord&) const = default;
};

/// Which word of a query a token matches.
class TokenWords {
 public:
  virtual ~TokenWords() = default;
  /// The position of the word in the query, plus 1; 0 without a match.
  virtual uint8_t wordOf(std::u16string_view token) const = 0;
  /// Calls `visit(token)` for every token that matches a word of at least this weight, sometimes repeatedly.
  virtual void each(double least, const std::function<void(std::u16string_view)>& visit) const = 0;
  /// Whether a token is a match by itself, and not only a part of a word that is written apart.
  virtual bool isWhole(std::u16string_view token) const = 0;
  /// The ways in which words of at least this weight are written apart.
  virtual std::vector<ApartWord> apart(double least) const = 0;
};

/// Matches tokens by the marks of one segment.
class SegmentWords final : public TokenWords {
 public:
  SegmentWords(const TextSegment& segment, const TermMarks& marks)
      : segment_(segment), marks_(marks) {}

  uint8_t wordOf(std::u16string_view token) const override;
  void each(double least, const std::function<void(std::u16string_view)>& visit) const override;
  bool isWhole(std::u16string_view token) const override;
  std::vector<ApartWord> apart(double least) const override;

 private:
  const TextSegment& segment_;
  const TermMarks& marks_;
};

/// Matches tokens in all segments, for texts that may be in any segment or in none.
class ViewWords final : public TokenWords {
 public:
  ViewWords(std::span<const TextSegment> segments, const TextQuery& query)
      : segments_(segments), query_(query) {}

  uint8_t wordOf(std::u16string_view token) const override;
  void each(double least, const std::function<void(std::u16string_view)>& visit) const override;
  bool isWhole(std::u16string_view token) const override;
  std::vector<ApartWord> apart(double least) const override;

 private:
  const std::span<const TextSegment> segments_;
  const TextQuery& query_;
};

/// Finds the words of a query in texts.
class ShownWords {
 public:
  /// @param least least weight of a word to find
  ShownWords(const TokenWords& words, const TextQuery& query, double least);

  /// Replaces `spans` by the words in a part of a text, in order. In scripts without word spaces, every pair
  /// of neighbouring characters is a word.
  void find(std::u16string_view text, size_t from, size_t to, std::vector<WordSpan>& spans);
  /// The same in the whole of a text.
  void find(const DividedText& divided, std::vector<WordSpan>& spans);

  /// From now on also finds spellings in parts and signs in the texts of this document, which are not tokens of a text.
  /// Returns whether some of them match in the document.
  bool readSpellings(const TextSegment& segment, uint32_t document);
  /// From now on finds only tokens.
  void skipSpellings() { hasSpellings_ = false; }

 private:
  template <typename Pieces>
  void findNames(std::u16string_view part, size_t offset, std::vector<WordSpan>& spans, const Pieces& eachPiece);
  void findPiece(std::u16string_view piece, bool isAscii, size_t offset, std::vector<WordSpan>& spans);
  void findAscii(std::u16string_view piece, size_t offset, std::vector<WordSpan>& spans);
  /// The word that is written apart from a span on; null if it is incomplete or missing there.
  const ApartWord* apartAt(std::u16string_view text, std::span<const WordSpan> spans) const;
  void joinParts(std::u16string_view text, std::vector<WordSpan>& spans) const;
  void addSpellings(std::u16string_view part, size_t offset, std::vector<WordSpan>& spans);
  /// Adds the span of a token if it matches.
  void push(std::u16string_view token, size_t start, size_t end, std::vector<WordSpan>& spans);
  const KnownToken& known(std::u16string_view token);

  const TokenWords& words_;
  const TextQuery& query_;
  const double least_;
  const Tokenizer& tokenizer_ = Tokenizer::instance();
  /// The starts of the matching terms, which exclude most other words. The first characters alone exclude half
  /// of those.
  std::bitset<size_t{1} << WordStart::UNIT_BITS> firsts_;
  std::bitset<WordStart::COUNT> starts_;
  /// Whether a matching term is a name with symbols in or around it.
  bool hasNames_ = false;
  bool hasSpellings_ = false;
  const std::vector<ApartWord> apart_;
  /// The text that is read.
  WordUnits units_;
  /// The word of each token that was looked up.
  std::unordered_map<std::u16string, TokenMatch, KeyedHash, std::equal_to<>> known_;
};

}  // namespace tessera
