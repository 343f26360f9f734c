#include "retrieval/retrieve.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <unordered_set>

#include "common/keyed_hash.hpp"
#include "json/write.hpp"
#include "retrieval/candidates.hpp"
#include "retrieval/diversity.hpp"
#include "retrieval/hit_maker.hpp"
#include "retrieval/progress.hpp"
#include "retrieval/render_hit.hpp"
#include "text/query/plan.hpp"

namespace tessera {

/// Maximum number of candidates. The last page ends where it would need more.
static constexpr size_t CANDIDATES_MAX = 16'384;
/// Candidates per hit, because several candidates may be the same hit or hidden, and the growth factor if they
/// are too few.
static constexpr size_t CANDIDATES_PER_HIT = 2;
static constexpr size_t CANDIDATES_GROWTH = 4;

namespace {

class Retrieval {
 public:
  Retrieval(TextView& view, const Scope* scope, const RetrievalRequest& request,
            LookupScratch& scratch, Answer& found,
            RetrievalAnswer& answer)
      : segments_(view.segments()),
        scope_(scope),
        request_(request),
        scratch_(scratch),
        found_(found),
        answer_(answer),
        dimension_(static_cast<uint32_t>(request.vector.size())),
        source_(scope, request.project.get(), request.mode == RetrievalMode::KEYWORD ? 0 : dimension_,
                request.versions),
        returned_(request.progress),
        wanted_(returned_.size() + request.limit + 1),
        query_(planQuery(view, request.analysed, {0, 1})),
        passages_(segments_, query_, scratch),
        candidates_(segments_, scope, request, source_, query_, scratch, found),
        maker_(segments_, request, source_, candidates_, passages_, answer.missing),
        lastScore_(returned_.lastScore()) {
    answer.missing.clear();
    answer.progress.clear();
    answer.more = false;
    answer.isLate = false;
  }

  void run() {
    const auto start = std::chrono::steady_clock::now();
    findEntries();
    if (request_.diversity > 0) diversify(entries_, request_.diversity, dimension_, wanted_);
    if (isGrouped()) {
      chooseGroups();
    } else {
      chooseHits();
    }
    if (!answer_.missing.empty()) return;
    count();
    answer_.best = hits_.empty() ? 0 : hits_.front().score;
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    render(std::round(took.count()) / 1000);
    if (request_.facets) {
      const auto files = matchedFiles(segments_, scope_, request_, maker_, query_, scratch_, found_);
      answer_.isLate = !appendFacets(answer_.json, *request_.facets, files);
    }
  }

 private:
  bool isGrouped() const { return request_.groupSize > 0; }
  bool isFused() const { return request_.mode == RetrievalMode::HYBRID; }
  bool excludesAny() const { return request_.excluded.chunks > 0; }

  /// Entries of the list that the page needs.
  size_t needed() const {
    if (request_.diversity == 0) return wanted_;
    return (wanted_ + DIVERSE_CANDIDATES - 1) / DIVERSE_CANDIDATES * DIVERSE_CANDIDATES;
  }

  /// Lists the candidates of all pages so far: each file once, if hits are grouped.
  void findEntries() {
    const bool isLossy = isGrouped() || excludesAny();
    size_t depth = needed() * (isLossy ? CANDIDATES_PER_HIT : 1);
    for (;; depth *= CANDIDATES_GROWTH) {
      candidates_.find(depth);
      std::unordered_set<std::string, KeyedHash> paths;
      entries_.clear();
      for (const HitCandidate* candidate : candidates_.ranked()) {
        if (maker_.isExcluded(*candidate)) continue;
        if (isGrouped() && !paths.insert(maker_.pathOf(*candidate)).second) continue;
        entries_.push_back(candidate);
      }
      if (entries_.size() >= needed() || !candidates_.canGrow() || depth >= CANDIDATES_MAX) break;
    }
    answer_.lacksHits = request_.hits && entries_.size() < needed() && !candidates_.areAll();
  }

  /// Takes the hits of the page from the candidates.
  void chooseHits() {
    std::unordered_set<std::string_view, KeyedHash> chunkIds;
    for (const HitCandidate* entry : entries_) {
      const HitCandidate& candidate = *entry;
      const bool isFull = hits_.size() == request_.limit;
      if (candidate.match != nullptr && returned_.has(maker_.pathOf(candidate))) continue;
      std::optional<ShownHit> hit;
      if (!isFull || !isSurelyNew(candidate)) {
        hit = maker_.hitOf(candidate);
        if (!hit || returned_.has(hit->key())) continue;
        if (hit->chunk && !chunkIds.insert(hit->chunk->parts.id).second) continue;
      }
      answer_.more = isFull;
      if (isFull) break;
      add(std::move(*hit));
    }
    if (!answer_.more || !answer_.missing.empty()) return;
    answer_.progress = RetrievalProgress::start(lastScore_, request_.progress);
    for (const ShownHit& hit : hits_) {
      ReturnedPaths::append(answer_.progress, hit.key());
      if (hit.keyword) ReturnedPaths::append(answer_.progress, hit.path);
    }
  }

  /// Later candidates may be better than the hit before, and continue the list there.
  void add(ShownHit&& hit) {
    lastScore_ = hit.score = std::min(hit.score, lastScore_);
    hits_.push_back(std::move(hit));
  }

  /// Takes the groups of the page from the candidates.
  void chooseGroups() {
    for (const HitCandidate* entry : entries_) {
      if (returned_.has(maker_.pathOf(*entry))) continue;
      answer_.more = groups_.size() == request_.limit;
      if (answer_.more) break;
      auto best = maker_.hitOf(*entry);
      if (!best) continue;
      groups_.push_back(hits_.size());
      add(std::move(*best));
      maker_.addPassages(*entry, hits_);
    }
    if (!answer_.more || !answer_.missing.empty()) return;
    answer_.progress = RetrievalProgress::start(lastScore_, request_.progress);
    for (const size_t first : groups_) ReturnedPaths::append(answer_.progress, hits_[first].path);
  }

  /// Sets the number of hits, or of groups, in the answer.
  void count() {
    answer_.total = candidates_.total();
    answer_.countsAll = candidates_.countsAll();
    if (isGrouped() || excludesAny()) {
      // Excluded chunks may be counted, and several counted chunks may be in one file.
      const auto& [_, paths, chunks] = request_.excluded;
      const uint64_t most = isGrouped() ? candidates_.files() : candidates_.total();
      const uint64_t left = isGrouped() ? paths.size() : chunks;
      const size_t seen = isGrouped() || !isFused() ? entries_.size() : hits_.size();
      answer_.total = std::max<uint64_t>(most - std::min(most, left), seen);
      const bool countsFiles = request_.mode == RetrievalMode::KEYWORD && !excludesAny();
      answer_.countsAll = countsFiles || (candidates_.areAll() && (isGrouped() || !isFused()));
    } else {
      answer_.total = std::max<uint64_t>(answer_.total, hits_.size());
    }
  }

  /// True for a file that is certainly not on an earlier page. Does not search for its best passage.
  bool isSurelyNew(const HitCandidate& candidate) const {
    if (candidate.match == nullptr || returned_.size() > 0) return false;
    const std::string_view version = candidates_.versionOf(*candidate.match);
    return std::ranges::none_of(hits_, [version](const ShownHit& hit) {
      return hit.chunk && hit.chunk->parts.versionId == version;
    });
  }

  /// Finds the documents of the shown chunks, which have the titles.
  void findDocuments() {
    for (ShownHit& hit : hits_) {
      if (hit.document || !hit.chunk) continue;
      hit.document = documentOf(segments_, hit.path, hit.chunk->parts.versionId);
    }
  }

  void render(double milliseconds) {
    HitRenderer renderer(segments_, passages_, request_.hasQuery);
    if (request_.hasQuery || isGrouped()) findDocuments();
    std::string& out = answer_.json;
    out.assign(R"({"data":[)");
    if (isGrouped()) {
      for (size_t g = 0; g < groups_.size(); g++) {
        const size_t end = g + 1 < groups_.size() ? groups_[g + 1] : hits_.size();
        if (g > 0) out += ',';
        renderer.appendGroup(out, std::span(hits_).subspan(groups_[g], end - groups_[g]));
      }
    } else {
      renderer.appendHits(out, hits_);
    }
    out += "],";
    appendPageInfo(out, request_.selfPath, answer_.more ? &request_.next : nullptr);
    out += R"(,"search_time_ms":)";
    appendNumber(out, milliseconds);
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
  /// The number of hits of this page and earlier ones, plus one to see whether another page follows.
  const size_t wanted_;
  TextQuery query_;
  Passages passages_;
  Candidates candidates_;
  HitMaker maker_;
  /// The known part of the list that is divided into pages.
  std::vector<const HitCandidate*> entries_;
  std::vector<ShownHit> hits_;
  /// The first hit of each group.
  std::vector<size_t> groups_;
  /// The score of the hit before the next one.
  double lastScore_;
};

}  // namespace

void retrieve(TextView& view, const Scope* scope, const RetrievalRequest& request,
              LookupScratch& scratch, Answer& found,
              RetrievalAnswer& answer) {
  Retrieval(view, scope, request, scratch, found, answer).run();
}

}  // namespace tessera
