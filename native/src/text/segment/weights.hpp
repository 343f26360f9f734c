// Weights that are applied when a query runs; `field_weights.hpp` has those of the fields. None of them is specific to a
// collection: `bench/knowledge` compares several collections.
#pragma once
#include <cstddef>

namespace tessera {

/// BM25's k1: the weighted term frequency that earns half of a word's maximum score.
inline constexpr double K1 = 1.5;
/// BM25's b for the content: how much its length matters, compared with the average of the scope.
inline constexpr double CONTENT_B = 0.75;

/// The weight of an occurrence of another form of the query word, as a share of the word itself.
inline constexpr double STEM_SIMILARITY = 0.85;
/// A form is often much rarer than its stem. Only the exact form earns this share of the difference in
/// inverse document frequency.
inline constexpr double EXACT_FORM_SHARE = 0.7;
/// A term is a word of a language if its document frequency in the texts of the language is at least this share of
/// its document frequency in all texts, relative to the number of texts.
inline constexpr double STEM_LANGUAGE_MIN_SHARE = 0.5;
/// The weight of a part of a compound that documents hold, as a share of its own. Without the compound it counts as
/// any other word.
inline constexpr double COMPOUND_PART_SHARE = 0.2;
/// The similarity of a longer term that begins with the word, times the share of the term that was typed: less than
/// any form, and close to 0 if documents hold the word or a form of it.
inline constexpr double PREFIX_SIMILARITY = 0.8;
inline constexpr double PREFIX_SIMILARITY_BESIDE_FORMS = 0.04;
/// A word is whole unless the documents that hold longer words are more than this many times those that hold the
/// word or a form of it.
inline constexpr size_t WHOLE_WORD_LONGER_MAX = 8;
/// The similarity of a pair of characters that begins with the word, if the word is one character.
inline constexpr double CHARACTER_SIMILARITY = 1.4;
inline constexpr double FUZZY_SIMILARITY = 0.7;
/// Lower, because people rarely mistype the first letter.
inline constexpr double FUZZY_FIRST_LETTER_SIMILARITY = 0.5;
/// A word that documents hold may be misspelt in them if at most this share of the documents holds it, and a word at
/// one typo's distance is in at least this multiple of these documents.
inline constexpr double MISSPELT_MAX_SHARE = 0.01;
inline constexpr double MEANT_BESIDE_HELD_SHARE = 0.5;
inline constexpr size_t MEANT_MIN_RATIO = 4;
/// The weight of another form of a term that a misspelt word may mean.
inline constexpr double FUZZY_STEM_SIMILARITY = 0.6;

/// The weight of an occurrence of a word as two, or of two words as one.
inline constexpr double SPELLING_SIMILARITY = 0.85;

/// How much of the query word a matching term covers; the word itself covers 1.
inline constexpr double STEM_COVERAGE = 0.75;
inline constexpr double FUZZY_COVERAGE = 0.9;
inline constexpr double SPELLING_COVERAGE = 0.95;

/// Queries with more words than this are questions or sentences.
inline constexpr size_t LONG_QUERY_WORDS = 4;
/// The weight of a function word among other words, as a share of its inverse document frequency.
inline constexpr double FUNCTION_WORD_SHARE = 0.05;
/// The only function word of a short query counts as one if at least this share of the documents holds it.
inline constexpr double FUNCTION_WORD_MIN_SHARE = 0.2;
/// The weight of an identifier in mixed case in a long query, if at most this share of the documents
/// holds it. Frequent names, such as GitHub, count like other words.
inline constexpr double IDENTIFIER_SHARE = 5;
inline constexpr double IDENTIFIER_MAX_SHARE = 0.01;

/// Second pass: bonuses for proximity, phrases and matching fields, as shares of the maximum score.
inline constexpr double PROXIMITY_BONUS = 1.5;
inline constexpr double PHRASE_BONUS = 2;
/// Proximity and phrases are shares of the query, taken to this power: a passage that repeats the
/// query is relevant, but a few words of it next to each other are chance. The chance grows with the query.
inline constexpr double RUN_POWER = 3;
inline constexpr double RUN_POWER_PER_WORD = 0.65;
/// For a title that starts with the query.
inline constexpr double TITLE_START_BONUS = 0.5;
inline constexpr double TITLE_BONUS = 0.9;
inline constexpr double HEADING_BONUS = 0.7;
inline constexpr double FRONTMATTER_BONUS = 0.7;
/// For a title or heading whose words are all in the query, in their order. The share of the query in it is
/// taken to a power, because a query may contain a short title by chance.
inline constexpr double TITLE_NAMED_BONUS = 2;
inline constexpr double HEADING_NAMED_BONUS = 1.6;
inline constexpr double NAMED_POWER = 2;
/// How well a field fits is a share too, taken to this power.
inline constexpr double FIT_POWER = 1.5;
/// Words that are further apart have no proximity.
inline constexpr size_t PROXIMITY_MAX_DISTANCE = 8;
/// The weight of the proximity of two words in the wrong order.
inline constexpr double REVERSED_ORDER_SHARE = 0.5;

/// The best matches of the first pass that the second pass ranks again.
inline constexpr size_t RERANK_DOCUMENTS = 64;

/// The most distinct words of a query that are searched for, the weightiest ones: a byte of `TermMarks` numbers them.
inline constexpr size_t QUERY_MAX_WORDS = 255;
/// The maximum number of tokens that are read to find one word written apart, over all places where it may be
/// cut. A cut whose two words are in more text is not considered.
inline constexpr size_t APART_MAX_TOKENS = size_t{1} << 23;
/// The most words at one typo's distance that a misspelt word may mean: the words of the most documents.
inline constexpr size_t FUZZY_MAX_WORDS = 64;

}  // namespace tessera
