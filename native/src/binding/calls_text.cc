// The call that ranks text. `native/index.ts` documents the layout of its arguments.
#include <algorithm>
#include <cmath>

#include "binding/arguments.hpp"
#include "binding/calls.hpp"
#include "text/rank.hpp"

namespace tessera {

static constexpr size_t FREQUENCY_CODES = POSTING_CODE_MASK + 1;
static constexpr size_t MAX_WORDS = 255;
/// Pairs of offset and count in the sections of a segment.
static constexpr size_t SECTIONS = 8;

template <typename Element>
static std::span<const Element> arrayOf(Napi::Env env, const Napi::Value& value,
                                        napi_typedarray_type type, const char* name) {
  if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != type) {
    throwTypeError(env, std::string(name) + " must be a typed array of the documented type");
  }
  const auto array = value.As<Napi::TypedArrayOf<Element>>();
  return {array.Data(), array.ElementLength()};
}

/// Reads the arrays of a segment. Throws a TypeError when one is not within the buffer.
class SectionReader {
 public:
  SectionReader(Napi::Env env, std::span<const uint8_t> buffer, std::span<const double> sections)
      : env_(env), buffer_(buffer), sections_(sections) {
    if (sections.size() != SECTIONS * 2) throwTypeError(env, "a segment has 8 sections");
  }

  template <typename Element>
  std::span<const Element> next() {
    const double offset = sections_[at_++], count = sections_[at_++];
    const double bytes = static_cast<double>(buffer_.size());
    const bool fits = offset >= 0 && count >= 0 && offset + count * sizeof(Element) <= bytes;
    if (!fits || std::fmod(offset, sizeof(Element)) != 0) {
      throwTypeError(env_, "a section is not within its segment");
    }
    const uint8_t* data = buffer_.data() + static_cast<size_t>(offset);
    return {reinterpret_cast<const Element*>(data), static_cast<size_t>(count)};
  }

 private:
  Napi::Env env_;
  std::span<const uint8_t> buffer_;
  std::span<const double> sections_;
  size_t at_ = 0;
};

static DocumentSet documentSetOf(Napi::Env env, const Napi::Value& value) {
  if (value.IsNull()) return {true, {}};
  return {false, arrayOf<uint32_t>(env, value, napi_uint32_array, "documents")};
}

static TextSegment segmentOf(Napi::Env env, const Napi::Value& value) {
  if (!value.IsObject()) throwTypeError(env, "a segment must be an object");
  const auto object = value.As<Napi::Object>();
  const auto buffer = arrayOf<uint8_t>(env, object.Get("buffer"), napi_uint8_array, "buffer");
  const auto sections =
      arrayOf<double>(env, object.Get("sections"), napi_float64_array, "sections");
  SectionReader reader(env, buffer, sections);
  TextSegment segment{};
  segment.strings = reader.next<uint8_t>();
  segment.stringStart = reader.next<uint32_t>();
  segment.lengths = reader.next<uint32_t>();
  segment.pathHashes = reader.next<uint32_t>();
  segment.tokenStart = reader.next<uint32_t>();
  segment.tokens = reader.next<int32_t>();
  segment.postingStart = reader.next<uint32_t>();
  segment.postings = reader.next<uint32_t>();
  const size_t documents = segment.lengths.size();
  if (segment.pathHashes.size() != documents || segment.tokenStart.size() <= documents ||
      segment.stringStart.size() <= documents * 4 || segment.postingStart.empty()) {
    throwTypeError(env, "the sections of a segment do not fit each other");
  }
  segment.inScope = documentSetOf(env, object.Get("documents"));
  return segment;
}

/// Reads the arrays `layout` and `numbers`, and throws a TypeError when one ends too early.
class QueryReader {
 public:
  QueryReader(Napi::Env env, std::span<const uint32_t> layout, std::span<const double> numbers)
      : env_(env), layout_(layout), numbers_(numbers) {}

  uint32_t integer() {
    if (layoutAt_ == layout_.size()) throwTypeError(env_, "layout is too short");
    return layout_[layoutAt_++];
  }

  double number() {
    if (numbersAt_ == numbers_.size()) throwTypeError(env_, "numbers is too short");
    return numbers_[numbersAt_++];
  }

  size_t leftIntegers() const { return layout_.size() - layoutAt_; }

  /// A whole number; numbers beyond `most` count as `most`.
  uint32_t integerNumber(uint32_t least, uint32_t most) {
    const double value = number();
    if (!(value >= least)) throwTypeError(env_, "a number of the query is too small");
    return static_cast<uint32_t>(std::min<double>(value, most));
  }

 private:
  Napi::Env env_;
  std::span<const uint32_t> layout_;
  std::span<const double> numbers_;
  size_t layoutAt_ = 0;
  size_t numbersAt_ = 0;
};

static RankWeights weightsOf(QueryReader& reader) {
  RankWeights weights{};
  for (double RankWeights::* field :
       {&RankWeights::k1, &RankWeights::contentB, &RankWeights::proximityBonus,
        &RankWeights::phraseBonus, &RankWeights::runPower, &RankWeights::runPowerPerWord,
        &RankWeights::titleStartBonus, &RankWeights::titleBonus, &RankWeights::headingBonus,
        &RankWeights::frontmatterBonus, &RankWeights::fitPower,
        &RankWeights::proximityMaxDistance, &RankWeights::reversedOrderShare}) {
    weights.*field = reader.number();
  }
  return weights;
}

static void readOptions(QueryReader& reader, TextQuery& query) {
  query.weights = weightsOf(reader);
  query.rerankDocuments = reader.integerNumber(1, UINT32_MAX);
  query.rerankMaxTokens = reader.integerNumber(0, UINT32_MAX);
  query.averageLength = reader.number();
  query.maxScore = reader.number();
  query.limit = reader.integerNumber(1, UINT32_MAX);
  query.shardIndex = reader.integerNumber(0, UINT32_MAX);
  query.shardCount = reader.integerNumber(1, UINT32_MAX);
}

static void readWords(Napi::Env env, QueryReader& reader, size_t count, TextQuery& query) {
  if (count > MAX_WORDS) throwTypeError(env, "a query has at most 255 words");
  for (size_t w = 0; w < count; w++) {
    QueryWord word{};
    word.selective = reader.integer() != 0;
    word.idf = reader.number();
    word.weight = reader.number();
    word.formWeight = reader.number();
    word.exactWeight = reader.number();
    word.otherWeight = reader.number();
    query.words.push_back(word);
  }
}

/// The matches of all words in all segments. The lists of `query` are views of it.
static void readMatches(Napi::Env env, QueryReader& reader, std::span<const TextSegment> segments,
                        std::vector<TermMatch>& matches, TextQuery& query) {
  // Without growth, the views stay valid.
  matches.clear();
  matches.reserve(reader.leftIntegers());
  const auto list = [&](size_t count, size_t terms) -> std::span<const TermMatch> {
    const size_t from = matches.size();
    for (size_t i = 0; i < count; i++) {
      const uint32_t term = reader.integer();
      if (term >= terms) throwTypeError(env, "a term is not in its segment");
      const double similarity = reader.number();
      matches.push_back({term, similarity, reader.number()});
    }
    return {matches.data() + from, count};
  };
  for (const TextSegment& segment : segments) {
    auto& words = query.matches.emplace_back();
    for (size_t w = 0; w < query.words.size(); w++) {
      const uint32_t forms = reader.integer(), others = reader.integer();
      const auto formList = list(forms, segment.termCount());
      words.push_back({formList, list(others, segment.termCount())});
    }
  }
}

static void readFrequencies(const Napi::CallbackInfo& info, TextQuery& query) {
  const auto codes = arrayOf<float>(info.Env(), info[3], napi_float32_array, "frequencies");
  if (codes.size() != 2 * FREQUENCY_CODES) {
    throwTypeError(info.Env(), "frequencies must have 8,192 elements");
  }
  query.contentFrequencies = codes.first(FREQUENCY_CODES);
  query.fieldFrequencies = codes.last(FREQUENCY_CODES);
}

/// The total, and three numbers per match: segment, document and score.
static Napi::Value rankingOf(Napi::Env env, const Ranking& ranking) {
  auto result = Napi::Float64Array::New(env, 1 + 3 * ranking.best.size());
  double* out = result.Data();
  *out++ = static_cast<double>(ranking.total);
  for (const TextMatch& match : ranking.best) {
    *out++ = match.segment;
    *out++ = match.document;
    *out++ = match.score;
  }
  return result;
}

Napi::Value rankTextCall(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  static thread_local RankScratch scratch;
  static thread_local std::vector<TermMatch> matches;
  if (!info[0].IsArray()) throwTypeError(env, "segments must be an array");
  const auto array = info[0].As<Napi::Array>();
  std::vector<TextSegment> segments;
  for (uint32_t s = 0; s < array.Length(); s++) segments.push_back(segmentOf(env, array.Get(s)));
  QueryReader reader(env, arrayOf<uint32_t>(env, info[1], napi_uint32_array, "layout"),
                     arrayOf<double>(env, info[2], napi_float64_array, "numbers"));
  TextQuery query{};
  readFrequencies(info, query);
  readOptions(reader, query);
  readWords(env, reader, reader.integer(), query);
  readMatches(env, reader, segments, matches, query);
  return rankingOf(env, rankText(segments, query, scratch));
}

}  // namespace tessera
