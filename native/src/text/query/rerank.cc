#include "text/query/rerank.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "common/limits.hpp"
#include "text/segment/weights.hpp"

namespace tessera {

/// Tokens that are skipped together.
static constexpr size_t BLOCK = 8;
/// Stands for a token that is not a word of the query.
static constexpr size_t NO_WORD = SIZE_MAX;

/// Whether every term of a segment that matches a word is the whole word and earns bonuses.
static bool isPlain(const PlannedWord& word, size_t number) {
  const SegmentTerms& terms = word.terms[number];
  return terms.apart.empty() && (word.longerEarnBonus || terms.longer.empty()) &&
         std::ranges::all_of(terms.others, &TermMatch::earnsBonus);
}

Reranker::Reranker(const TextSegment& segment, size_t number, const TermMarks& marks, const TextQuery& query)
    : segment_(segment), number_(number), marks_(marks), query_(query) {
  const auto count = static_cast<double>(query.words.size());
  runPower_ = std::max(RUN_POWER, RUN_POWER_PER_WORD * count);
  words_.reserve(query.words.size());
  size_t selective = 0, before = NO_WORD;
  for (size_t w = 0; w < query.words.size(); w++) {
    const QueryWord& word = query.words[w];
    const bool isPaired = word.pairWeight > 0 && before != NO_WORD;
    words_.push_back({word.weight, word.selective ? ++selective : 0, isPaired ? word.pairWeight : 0, word.gap,
                      isPaired ? before : NO_WORD, NO_WORD, 0, 0, 0, 0, isPlain(*word.planned, number)});
    if (isPaired) words_[before].after = w;
    if (word.selective) before = w;
  }
  for (const JoinedWords& joined : query.joined) {
    for (const size_t word : joined.words) words_[word].isPlain = false;
  }
}

double Reranker::bonus(uint32_t document) {
  const size_t start = segment_.tokenStart[document];
  const size_t end =
      std::min<size_t>(segment_.tokenStart[document + 1], start + MAX_RERANK_TOKENS);
  for (Word& word : words_) word.pairProximity = 0;
  bestPhrase_ = 0;
  const Fits fits = readDocument(start, end);
  const double share = PROXIMITY_BONUS * std::pow(proximity(), runPower_) +
                       PHRASE_BONUS * std::pow(phrase(), runPower_) +
                       TITLE_START_BONUS * fits.start + TITLE_BONUS * fits.title +
                       TITLE_NAMED_BONUS * fits.titleNamed + HEADING_BONUS * fits.heading +
                       HEADING_NAMED_BONUS * fits.headingNamed +
                       FRONTMATTER_BONUS * fits.frontmatter;
  return share * query_.maxScore;
}

Reranker::Fits Reranker::readDocument(size_t from, size_t end) {
  Fits fits;
  uint32_t field = PATH_FIELD;
  size_t fieldStart = from;
  for (size_t i = from; i < end;) {
    const int32_t mark = segment_.tokens[i];
    if (mark < FIRST_INNER_MARK) {
      field = fieldOfMark(mark);
      fieldStart = i + 1;
    }
    // The content, which is the last field, earns only proximity and phrase bonuses.
    if (field == CONTENT_FIELD && query_.pairWeight == 0) break;
    const size_t first = mark < 0 ? i + 1 : i;
    i = readPassage(first, end);
    if (matches_ == 0) continue;
    // A joined spelling is a part of the field.
    const size_t length = mark == JOINED_MARK ? std::max(i - first, first - 1 - fieldStart) : i - first;
    const double own = fit(length);
    // The name of the file is the first passage of its path, and is not a title unless it is the whole query.
    if (mark == static_cast<int32_t>(MARK | PATH_FIELD) && leading_ == words_.size()) fits.titleNamed = named(length);
    if (field == TITLE_FIELD) {
      fits.title = std::max(fits.title, own);
      fits.titleNamed = std::max(fits.titleNamed, named(length));
      fits.start = std::max(fits.start, startsWithQuery());
    } else if (field == HEADINGS_FIELD) {
      fits.heading = std::max(fits.heading, own);
      fits.headingNamed = std::max(fits.headingNamed, named(length));
    } else if (field >= FIRST_KEY_FIELD) {
      fits.frontmatter = std::max(fits.frontmatter, own);
    }
  }
  return fits;
}

size_t Reranker::readPassage(size_t from, size_t end) {
  passage_++;
  coverage_ = 0;
  matches_ = 0;
  further_ = 0;
  leadingEnd_ = matchedEnd_ = from;
  leading_ = 0;
  lastPlace_ = 0;
  inOrder_ = true;
  const int32_t* tokens = segment_.tokens.data();
  const uint8_t* wordOf = marks_.wordOf();
  for (size_t i = from; i < end;) {
    // Most tokens do not match, so they must be cheap.
    if (i + BLOCK <= end && isMiss(tokens + i)) {
      i += BLOCK;
      continue;
    }
    const size_t blockEnd = std::min(i + BLOCK, end);
    for (; i < blockEnd; i++) {
      const int32_t term = tokens[i];
      if (term < 0) return i;
      const uint8_t word = wordOf[term];
      if (word != 0) addMatch(word - 1u, static_cast<uint32_t>(term), i);
    }
  }
  return end;
}

/// True if none of the tokens of a block is a mark or matches.
bool Reranker::isMiss(const int32_t* tokens) const {
  int32_t marks = 0;
  for (size_t b = 0; b < BLOCK; b++) marks |= tokens[b];
  if (marks < 0) return false;
  const uint8_t* wordOf = marks_.wordOf();
  uint8_t words = 0;
  for (size_t b = 0; b < BLOCK; b++) words |= wordOf[tokens[b]];
  return words == 0;
}

/// By the distance.
static const std::array<double, PROXIMITY_MAX_DISTANCE + 1> PROXIMITIES = [] {
  std::array<double, PROXIMITY_MAX_DISTANCE + 1> proximities{};
  for (size_t d = 1; d < proximities.size(); d++) proximities[d] = 1 / std::sqrt(static_cast<double>(d));
  return proximities;
}();

/// 1 if a query word is before this position with at most `gap` words between, less if it is further away, else 0.
inline double Reranker::proximityTo(size_t at, size_t position, size_t gap) const {
  const Word& word = words_[at];
  if (word.lastPassage != passage_) return 0;
  // Words that are written as one are at one position.
  const size_t distance = position > word.lastPosition ? position - word.lastPosition : 0;
  const size_t excess = distance > gap ? distance - gap : 1;
  return excess < PROXIMITIES.size() ? PROXIMITIES[excess] : 0;
}

inline void Reranker::addWord(size_t at, double coverage, size_t start, size_t position) {
  Word& word = words_[at];
  if (word.lastPassage != passage_) {
    word.lastPassage = passage_;
    coverage_ += coverage;
  }
  word.lastPosition = position;
  if (word.place != 0) {
    inOrder_ = inOrder_ && (lastPlace_ == 0 || word.place == lastPlace_ + 1);
    lastPlace_ = word.place;
  }

  const double near = word.before == NO_WORD ? 0 : proximityTo(word.before, start, word.gap);
  word.phraseWeight = 0;
  if (near > 0) {
    // A run of exact words is worth more than one of other forms.
    const double exactness = near * coverage / word.weight;
    word.phraseWeight = words_[word.before].phraseWeight + exactness * word.pairWeight;
    bestPhrase_ = std::max(bestPhrase_, word.phraseWeight);
    word.pairProximity = std::max(word.pairProximity, exactness);
  }

  if (word.after == NO_WORD) return;
  Word& after = words_[word.after];
  const double reversed = REVERSED_ORDER_SHARE * proximityTo(word.after, start, after.gap);
  after.pairProximity = std::max(after.pairProximity, reversed);
}

void Reranker::addMatch(size_t at, uint32_t term, size_t position) {
  if (words_[at].isPlain) {
    matches_++;
    matchedEnd_ = position + 1;
    if (position == leadingEnd_ && at == leading_) {
      leading_++;
      leadingEnd_ = position + 1;
    }
    return addWord(at, marks_.coverageOf(term), position, position);
  }
  if (marks_.earnsBonus(term)) addSpelling(at, term, position);
}

void Reranker::addSpelling(size_t at, uint32_t term, size_t position) {
  const size_t start = marks_.startOf(segment_.tokens, position);
  if (start == NO_TOKEN) return;
  matches_++;
  further_ += position - std::max(start, matchedEnd_);
  matchedEnd_ = position + 1;
  const bool leads = start == leadingEnd_;
  const size_t leading = leading_;
  if (const JoinedWords* joined = joinedBy(at, term)) {
    for (const size_t each : joined->words) {
      if (leads && each == leading_) leading_++;
      addWord(each, SPELLING_COVERAGE * words_[each].weight, start, position);
    }
  } else {
    if (leads && at == leading_) leading_++;
    addWord(at, marks_.coverageOf(term), start, position);
  }
  if (leading_ > leading) leadingEnd_ = position + 1;
}

const JoinedWords* Reranker::joinedBy(size_t at, uint32_t term) const {
  for (const JoinedWords& joined : query_.joined) {
    const auto holds = [](const auto& list, const auto& value) { return std::ranges::find(list, value) != list.end(); };
    if (holds(joined.terms[number_], term) && holds(joined.words, at)) return &joined;
  }
  return nullptr;
}

/// How well the passage fits: the share of the query in it, and the share of it in the query.
double Reranker::fit(size_t length) const {
  const double share = static_cast<double>(matches_) / static_cast<double>(length - further_);
  return std::pow(coverage_ / query_.maxScore * share, FIT_POWER);
}

/// The coverage of a passage that starts with all words of the query in order, else 0.
double Reranker::startsWithQuery() const {
  return leading_ == words_.size() ? coverage_ / query_.maxScore : 0;
}

/// The gain of a passage that the query names, with all of its words in their order and only function words between
/// them: the share of the query in it, to a power. Else 0.
double Reranker::named(size_t length) const {
  return inOrder_ && matches_ + further_ == length ? std::pow(coverage_ / query_.maxScore, NAMED_POWER) : 0;
}

/// 1 if all words follow each other in one run, 0 if no two do.
double Reranker::phrase() const {
  return query_.pairWeight == 0 ? 0 : bestPhrase_ / query_.pairWeight;
}

/// 1 if all words are next to each other in order, 0 if no two of them are near.
double Reranker::proximity() const {
  if (query_.pairWeight == 0) return 0;
  double near = 0;
  for (const Word& word : words_) near += word.pairWeight * word.pairProximity;
  return near / query_.pairWeight;
}

}  // namespace tessera
