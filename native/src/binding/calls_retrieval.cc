// The call for retrieval.
#include <cmath>
#include <deque>

#include "binding/calls.hpp"
#include "binding/text_arguments.hpp"
#include "kernels/kernels.hpp"
#include "retrieval/retrieve.hpp"

namespace tessera {

static constexpr uint32_t MAX_RETRIEVAL_LIMIT = 1'000'000;
static constexpr uint32_t MAX_GROUP_SIZE = 1'000;
static constexpr uint32_t MAX_FACETS_MS = 60'000;

namespace {

struct RetrievalThread {
  Answer found;
  RetrievalAnswer answer;
};

RetrievalThread& retrievalThread() {
  static thread_local RetrievalThread thread;
  return thread;
}

/// Reads the hits and versions that the caller provides. Vectors stay in the memory of the caller.
class GivenReader {
 public:
  GivenReader(Napi::Env env, uint32_t dimension) : env_(env), dimension_(dimension) {}

  void read(const Napi::Value& value, RetrievalRequest& request) {
    if (value.IsNull()) return;
    const auto given = object(value);
    const auto versions = list(given.Get("versions"));
    for (uint32_t i = 0; i < versions.Length(); i++) {
      const auto version = object(versions.Get(i));
      request.versions.push_back({text(version.Get("id")), chunks(version.Get("chunks"))});
    }
    const Napi::Value hits = given.Get("hits");
    if (hits.IsNull()) return;
    const auto found = object(hits);
    const auto cosines =
        arrayOf<double>({env_, found.Get("cosines"), "cosines"}, napi_float64_array);
    const auto own = chunks(found.Get("chunks"));
    if (own.size() != cosines.size()) throwTypeError(env_, "every hit must have a cosine");
    request.hits.emplace();
    for (size_t i = 0; i < own.size(); i++) request.hits->push_back({own[i], cosines[i]});
    request.matches = static_cast<uint64_t>(found.Get("matches").ToNumber().Int64Value());
    request.hasAllHits = found.Get("areAll").ToBoolean();
    request.countsAllHits = found.Get("countsAll").ToBoolean();
  }

 private:
  Napi::Object object(const Napi::Value& value) const {
    if (!value.IsObject()) throwTypeError(env_, "the given versions must be objects");
    return value.As<Napi::Object>();
  }

  Napi::Array list(const Napi::Value& value) const {
    if (!value.IsArray()) throwTypeError(env_, "the given versions must be in arrays");
    return value.As<Napi::Array>();
  }

  std::string_view text(const Napi::Value& value) {
    if (!value.IsString()) throwTypeError(env_, "the given texts must be strings");
    return texts_.emplace_back(value.As<Napi::String>().Utf8Value());
  }

  /// Pairs of a rendered chunk and its vector, which is null or a Float32Array.
  std::vector<ChunkRef> chunks(const Napi::Value& value) {
    const auto pairs = list(value);
    std::vector<ChunkRef> chunks;
    for (uint32_t i = 0; i + 1 < pairs.Length(); i += 2) {
      ChunkRef& chunk = chunks.emplace_back();
      chunk.text = text(pairs.Get(i));
      if (!readChunkText(chunk.text, chunk.parts)) throwTypeError(env_, "a chunk is not rendered");
      const Napi::Value vector = pairs.Get(i + 1);
      if (vector.IsNull() || dimension_ == 0) continue;
      const auto elements = arrayOf<float>({env_, vector, "a vector"}, napi_float32_array);
      if (elements.size() != dimension_) continue;
      const double squared = kernels().dot(elements.data(), elements.data(), dimension_);
      chunk.vector = elements.data();
      chunk.inverseNorm = 1 / std::sqrt(squared);
    }
    return chunks;
  }

  Napi::Env env_;
  const uint32_t dimension_;
  /// A deque does not move its elements.
  std::deque<std::string> texts_;
};

void readVector(const Named& given, RetrievalRequest& request) {
  if (given.value.IsNull()) return;
  const auto vector = arrayOf<float>(given, napi_float32_array);
  const auto dimension = static_cast<uint32_t>(vector.size());
  if (dimensionSlot(dimension) < 0) throwTypeError(given.env, "vector has no known dimension");
  vectorOf(given, dimension, request.vector);
}

std::vector<std::string> textsOf(const Named& given) {
  if (!given.value.IsArray()) throwTypeError(given.env, std::string(given.name) + " must be an array");
  const auto list = given.value.As<Napi::Array>();
  std::vector<std::string> texts;
  for (uint32_t i = 0; i < list.Length(); i++) texts.push_back(list.Get(i).ToString().Utf8Value());
  return texts;
}

void readExcluded(const Named& given, Excluded& excluded) {
  if (!given.value.IsObject()) throwTypeError(given.env, "excluded must be an object");
  const auto object = given.value.As<Napi::Object>();
  excluded.chunkIds = textsOf({given.env, object.Get("chunkIds"), "chunkIds"});
  excluded.paths = textsOf({given.env, object.Get("paths"), "paths"});
  excluded.chunks = static_cast<uint64_t>(object.Get("chunks").ToNumber().Int64Value());
}

/// The file versions that a page shows and that the caller must provide.
Napi::Array missingOf(Napi::Env env, const std::vector<std::string>& missing) {
  auto list = Napi::Array::New(env, missing.size());
  for (uint32_t i = 0; i < missing.size(); i++) list.Set(i, Napi::String::New(env, missing[i]));
  return list;
}

void readRequest(const Fields& asked, RetrievalRequest& request) {
  request.hasQuery = !asked["query"].value.IsNull();
  request.analysed = analysedQueryOf(asked);
  for (AnalysedWord& word : request.analysed.words) word.isBeingTyped = false;
  request.mode = static_cast<RetrievalMode>(integerOf(asked["mode"], 0, 2));
  readVector(asked["vector"], request);
  request.limit = integerOf(asked["limit"], 1, MAX_RETRIEVAL_LIMIT);
  request.threshold = thresholdOf(asked["threshold"]);
  request.groupSize = integerOf(asked["groupSize"], 0, MAX_GROUP_SIZE);
  request.diversity = thresholdOf(asked["diversity"]);
  readExcluded(asked["excluded"], request.excluded);
  request.progress = textOf(asked["progress"]);
  request.selfPath = textOf(asked["selfPath"]);
  request.next = textOf(asked["next"]);
}

/// The facets that are asked for. False unless the fields of the scope are shared.
bool readFacets(const Fields& asked, RetrievalRequest& request) {
  const Named names = asked["facets"];
  if (names.value.IsNull()) return true;
  if (!names.value.IsArray()) throwTypeError(names.env, "facets must be an array");
  const std::string scope = nameOf(asked["scope"]);
  auto counted = SharedFields::instance().find(nameOf(asked["fields"]), isFilteredScope(scope) ? &scope : nullptr);
  if (!counted) return false;
  const uint32_t maxMs = integerOf(asked["facetsMaxMs"], 0, MAX_FACETS_MS);
  request.facets = {{}, std::move(*counted), std::chrono::milliseconds(maxMs)};
  const auto list = names.value.As<Napi::Array>();
  for (uint32_t i = 0; i < list.Length(); i++) {
    request.facets->names.push_back(text16Of({names.env, list.Get(i), "a facet"}));
  }
  return true;
}

}  // namespace

Napi::Value retrieve(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const Fields asked(info, 0);
  TextView& view = openViewOf(asked["view"]);
  RetrievalRequest request;
  readRequest(asked, request);
  const bool lacksVector = request.mode != RetrievalMode::KEYWORD && request.vector.empty();
  if (lacksVector) throwTypeError(env, "the mode needs a vector");
  const Named project = asked["project"];
  std::shared_ptr<const Scope> scope;
  if (!project.value.IsNull()) {
    const Named scopeId = asked["scope"];
    scope = scopeOf(project, scopeId);
    if (scope == nullptr) return env.Null();
    if (!isFilteredScope(nameOf(scopeId))) request.project = Registry::instance().find(nameOf(project));
  }
  if (!readFacets(asked, request)) return env.Null();
  GivenReader given(env, static_cast<uint32_t>(request.vector.size()));
  given.read(asked["given"].value, request);
  auto& [found, answer] = retrievalThread();
  retrieve(view, scope.get(), request, textThread().scratch, found, answer);
  if (!answer.missing.empty()) {
    const auto result = Napi::Object::New(env);
    result.Set("missing", missingOf(env, answer.missing));
    return result;
  }
  if (answer.isLate) {
    const auto result = Napi::Object::New(env);
    result.Set("isLate", true);
    return result;
  }
  auto page = pageOf(env, answer.json, answer.total, answer.more, answer.progress);
  page.Set("countsAll", answer.countsAll);
  page.Set("lacksHits", answer.lacksHits);
  page.Set("best", answer.best);
  return page;
}

}  // namespace tessera
