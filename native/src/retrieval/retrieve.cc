#include "retrieval/retrieve.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "common/cosine.hpp"
#include "json/write.hpp"
#include "kernels/kernels.hpp"
#include "retrieval/fusion.hpp"
#include "retrieval/known_files.hpp"
#include "retrieval/progress.hpp"
#include "retrieval/render_hit.hpp"
#include "text/query/plan.hpp"

namespace tessera {

/// Chunks of a file, which its text has found, whose vectors are compared with the query.
static constexpr size_t COMPARED_CHUNKS = 16;

namespace {

/// The number of candidates needed for some hits. It grows in steps, so that most pages share them.
size_t depthFor(size_t wanted, size_t least) {
  size_t depth = least;
  while (depth < wanted) depth *= 2;
  return depth;
}

/// A candidate for a hit: a file that its text has found, or a chunk that its vector has found.
struct HitCandidate {
  /// Null for a chunk.
  const TextMatch* match = nullptr;
  ChunkRef chunk;
  FusedItem item;
};

class Retrieval {
 public:
  Retrieval(TextView& view, const Scope* scope, const RetrievalRequest& request,
            const Tokenizer& tokenizer, LookupScratch& scratch, Answer& found,
            RetrievalAnswer& answer)
      : segments_(view.segments()),
        scope_(scope),
        request_(request),
        scratch_(scratch),
        found_(found),
        answer_(answer),
        dimension_(static_cast<uint32_t>(request.vector.size())),
        source_(scope, request.mode == RetrievalMode::KEYWORD ? 0 : dimension_, request.versions),
        returned_(request.progress),
        wanted_(returned_.size() + request.limit + 1),
        query_(planQuery(view, request.words, {0, 1})),
        passages_(segments_, query_, tokenizer, scratch) {
    answer.unread.clear();
    answer.progress.clear();
    answer.more = false;
    answer.total = 0;
    answer.countsAll = request.mode == RetrievalMode::KEYWORD;
  }

  void run() {
    const auto start = std::chrono::steady_clock::now();
    if (request_.mode != RetrievalMode::SEMANTIC) findByText();
    if (request_.mode != RetrievalMode::KEYWORD) findByVector();
    rank();
    choose();
    if (!answer_.unread.empty()) return;
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    render(std::round(took.count()) / 1000);
  }

 private:
  void findByText() {
    query_.limit = isFused() ? depthFor(wanted_, FUSED_FILES) : wanted_;
    auto [total, matches] = rankText(segments_, query_, scratch_.rank);
    answer_.total = total;
    matches_ = std::move(matches);
    candidates_.reserve(matches_.size() + depthFor(wanted_, FUSED_CHUNKS));
    for (const TextMatch& match : matches_) {
      HitCandidate& candidate = candidates_.emplace_back();
      candidate.match = &match;
      candidate.item.keyword = match.score;
      candidate.item.counts = candidates_.size() <= FUSED_FILES;
      if (isFused()) {
        const std::string_view version = versionOf(match);
        byVersion_.emplace(version, candidates_.size() - 1);
        compareChunks(candidate, version);
      }
    }
  }

  std::string_view versionOf(const TextMatch& match) const {
    return segments_[match.segment].versionId(match.document);
  }

  bool isFused() const { return request_.mode == RetrievalMode::HYBRID; }

  /// Finds the vector of a file that is most similar to the query.
  void compareChunks(HitCandidate& candidate, std::string_view version) {
    size_t compared = 0;
    source_.forEachVector(version, [&](const float* vector, double inverseNorm) {
      offer(candidate.item, vector, inverseNorm, cosineWith(vector, inverseNorm));
      return ++compared < COMPARED_CHUNKS;
    });
  }

  static void offer(FusedItem& item, const float* vector, double inverseNorm, double cosine) {
    if (item.vector != nullptr && item.cosine >= cosine) return;
    item.vector = vector;
    item.inverseNorm = inverseNorm;
    item.cosine = cosine;
  }

  double cosineWith(const float* vector, double inverseNorm) {
    const float* query = request_.vector.data();
    if (inverseNorm_ == 0) inverseNorm_ = 1 / std::sqrt(kernels().dot(query, query, dimension_));
    const double dot = kernels().dot(vector, query, dimension_);
    return cosineOf(dot, inverseNorm_, inverseNorm);
  }

  void findByVector() {
    if (request_.hits) {
      for (const GivenHit& hit : *request_.hits) addChunk(hit.chunk, hit.cosine);
      answer_.total = std::max(answer_.total, request_.matches);
    } else if (scope_ != nullptr) {
      const size_t limit = isFused() ? depthFor(wanted_, FUSED_CHUNKS) : wanted_;
      const Query query{request_.vector.data(), dimension_, static_cast<uint32_t>(limit),
                        request_.threshold, !isFused()};
      search(*scope_, query, found_);
      for (const Hit& hit : found_.hits) addChunk(chunkAt(*hit.shard, hit.row, true), hit.score);
      answer_.total = std::max(answer_.total, found_.work.matches);
      answer_.countsAll = !isFused() && found_.work.countsAll;
    }
  }

  void addChunk(const ChunkRef& chunk, double cosine) {
    HitCandidate candidate;
    candidate.chunk = chunk;
    offer(candidate.item, chunk.vector, chunk.inverseNorm, cosine);
    candidate.item.counts = candidates_.size() < matches_.size() + FUSED_CHUNKS;
    const auto file = byVersion_.find(chunk.parts.versionId);
    if (file != byVersion_.end()) {
      // A long file may have a better chunk than those that were compared.
      HitCandidate& own = candidates_[file->second];
      offer(own.item, chunk.vector, chunk.inverseNorm, cosine);
      if (own.item.counts) candidate.item.counts = false;
    }
    candidates_.push_back(candidate);
  }

  /// Puts the candidates into the order of the answer. Equal ones stay as found, files before chunks.
  void rank() {
    if (isFused()) {
      std::vector<FusedItem> items;
      items.reserve(candidates_.size());
      for (const HitCandidate& candidate : candidates_) items.push_back(candidate.item);
      const double best = matches_.empty() ? 0 : matches_.front().score;
      fuse(items, best, query_.maxScore, dimension_);
      for (size_t i = 0; i < items.size(); i++) candidates_[i].item.score = items[i].score;
    } else {
      for (HitCandidate& candidate : candidates_) {
        FusedItem& item = candidate.item;
        item.score = candidate.match ? keywordScore(item.keyword, query_.maxScore) : item.cosine;
      }
    }
    std::ranges::stable_sort(candidates_, std::greater(),
                             [](const HitCandidate& candidate) { return candidate.item.score; });
  }

  /// Takes the hits of the page from the candidates.
  void choose() {
    std::unordered_set<std::string_view> chunkIds;
    for (const HitCandidate& candidate : candidates_) {
      const bool isFull = hits_.size() == request_.limit;
      std::optional<ShownHit> hit;
      if (!isFull || !isSurelyNew(candidate)) {
        hit = shown(candidate);
        if (!hit || returned_.has(hit->key())) continue;
        if (hit->chunk && !chunkIds.insert(hit->chunk->parts.id).second) continue;
      }
      answer_.more = isFull;
      if (isFull) break;
      hits_.push_back(std::move(*hit));
    }
    if (!answer_.more || !answer_.unread.empty()) return;
    answer_.progress = RetrievalProgress::start(hits_.back().score, request_.progress);
    for (const ShownHit& hit : hits_) {
      ReturnedPaths::append(answer_.progress, hit.key());
      if (hit.keyword) ReturnedPaths::append(answer_.progress, hit.path);
    }
  }

  /// True for a file that no page so far has shown anything of, without looking for its best passage.
  bool isSurelyNew(const HitCandidate& candidate) const {
    if (candidate.match == nullptr || returned_.size() > 0) return false;
    return std::ranges::none_of(hits_, [version = versionOf(*candidate.match)](const ShownHit& hit) {
      return hit.chunk && hit.chunk->parts.versionId == version;
    });
  }

  /// The hit that a candidate would be shown as; nothing if its file was returned or has to be read.
  std::optional<ShownHit> shown(const HitCandidate& candidate) {
    ShownHit hit;
    // Later candidates may be better than the end of the page before, and continue the list there.
    hit.score = std::min(candidate.item.score, returned_.lastScore());
    if (candidate.match == nullptr) {
      hit.chunk = candidate.chunk;
      hit.semantic = candidate.item.cosine;
      hit.path = jsonStringToUtf8(candidate.chunk.parts.path);
      return hit;
    }
    hit.document = *candidate.match;
    hit.keyword = candidate.match->score;
    hit.path = segments_[candidate.match->segment].path(candidate.match->document);
    if (returned_.has(hit.path)) return std::nullopt;
    const std::string_view version = versionOf(*candidate.match);
    const auto chunks = source_.chunksOf(version);
    const GivenVersion* given = source_.given(version);
    hit.isWhole = chunks.size() <= 1;
    if (chunks.empty()) {
      if (!isShowable(segments_[hit.document->segment], hit.document->document)) return std::nullopt;
      hit.file = given == nullptr ? KnownFiles::instance().find(version) : given->file;
      if (!hit.file.empty()) return hit;
      answer_.unread.emplace_back(version);
      // The other hits of the page do not depend on this one.
      hits_.push_back(std::move(hit));
      return std::nullopt;
    }
    passages_.choose(chunks, hit);
    if (isFused() && hit.chunk->vector != nullptr) {
      const double cosine = cosineWith(hit.chunk->vector, hit.chunk->inverseNorm);
      if (cosine >= request_.threshold) hit.semantic = cosine;
    }
    return hit;
  }

  /// Finds what is shown beside the hits.
  void findContext() {
    for (ShownHit& hit : hits_) {
      if (hit.document || !hit.chunk) continue;
      const std::string_view version = hit.chunk->parts.versionId;
      hit.document = documentOf(segments_, hit.path, version);
      hit.isWhole = hit.document && source_.chunksOf(version).size() == 1;
    }
    passages_.highlightFiles(hits_);
  }

  void render(double milliseconds) {
    HitRenderer renderer(segments_, passages_, request_.hasQuery);
    if (request_.hasQuery) findContext();
    std::string& out = answer_.json;
    out.assign(R"({"data":[)");
    for (const ShownHit& hit : hits_) {
      if (out.back() != '[') out += ',';
      renderer.append(out, hit);
    }
    out += "],";
    appendPageInfo(out, request_.selfPath, answer_.more ? &request_.next : nullptr);
    out += R"(,"search_time_ms":)";
    appendNumber(out, milliseconds);
    answer_.total = std::max<uint64_t>(answer_.total, hits_.size());
    out += R"(,"total_matches":)";
    appendNumber(out, answer_.total);
    out += '}';
  }

  const std::span<const TextSegment> segments_;
  const Scope* const scope_;
  const RetrievalRequest& request_;
  LookupScratch& scratch_;
  Answer& found_;
  RetrievalAnswer& answer_;
  const uint32_t dimension_;
  const ChunkSource source_;
  const RetrievalProgress returned_;
  /// The hits of this page and those before, and one to see whether another page follows.
  const size_t wanted_;
  TextQuery query_;
  Passages passages_;
  /// One over the length of the query's vector; 0 before it is known.
  double inverseNorm_ = 0;
  std::vector<TextMatch> matches_;
  std::vector<HitCandidate> candidates_;
  /// The candidates that are files.
  std::unordered_map<std::string_view, size_t> byVersion_;
  std::vector<ShownHit> hits_;
};

}  // namespace

void retrieve(TextView& view, const Scope* scope, const RetrievalRequest& request,
              const Tokenizer& tokenizer, LookupScratch& scratch, Answer& found,
              RetrievalAnswer& answer) {
  Retrieval(view, scope, request, tokenizer, scratch, found, answer).run();
}

}  // namespace tessera
