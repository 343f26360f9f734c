// The candidates for the hits of a retrieval, best first.
#pragma once
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "retrieval/fusion.hpp"
#include "retrieval/retrieve.hpp"
#include "retrieval/sources.hpp"
#include "search/search.hpp"
#include "text/query/lookup.hpp"

namespace tessera {

/// A file that matches by text, or a chunk that matches by vector.
struct HitCandidate {
  /// Null for a chunk.
  const TextMatch* match = nullptr;
  ChunkRef chunk;
  FusedItem item;
};

class Candidates {
 public:
  Candidates(std::span<const TextSegment> segments, const Scope* scope,
             const RetrievalRequest& request, const ChunkSource& source, TextQuery& query,
             LookupScratch& scratch, Answer& found);

  /// Finds and ranks candidates for `wanted` hits, and replaces the previous candidates.
  void find(size_t wanted);

  /// Best first. Equal candidates keep the order in which they were found, files before chunks.
  std::span<const HitCandidate* const> ranked() const { return ranked_; }
  /// Whether the candidates include all matches.
  bool areAll() const { return hasAllTexts_ && hasAllVectors_; }
  /// Whether `find` would find further candidates for more hits.
  bool canGrow() const { return !hasAllTexts_ || (!hasAllVectors_ && !request_.hits); }
  /// The number of files that match by text.
  uint64_t files() const { return files_; }
  /// The known number of matches, and whether it counts all.
  uint64_t total() const { return total_; }
  bool countsAll() const { return countsAll_; }

  /// The score that a further chunk of a file would have.
  double scoreOf(const FusedItem& item) const;
  double cosineWith(const float* vector, double inverseNorm) const;
  std::string_view versionOf(const TextMatch& match) const {
    return segments_[match.segment].versionId(match.document);
  }

 private:
  void findByText(size_t wanted);
  void findByVector(size_t wanted);
  void compareChunks();
  void addChunk(const ChunkRef& chunk, double cosine);
  void rank();
  bool isFused() const { return request_.mode == RetrievalMode::HYBRID; }

  const std::span<const TextSegment> segments_;
  const Scope* const scope_;
  const RetrievalRequest& request_;
  const ChunkSource& source_;
  TextQuery& query_;
  LookupScratch& scratch_;
  Answer& found_;
  const uint32_t dimension_;
  /// One over the length of the query's vector; 0 without one.
  const double inverseNorm_;
  uint64_t files_ = 0;
  uint64_t total_ = 0;
  bool countsAll_ = true;
  bool hasAllTexts_ = true;
  bool hasAllVectors_ = true;
  std::vector<TextMatch> matches_;
  /// Files before chunks.
  std::vector<HitCandidate> candidates_;
  /// The versions of the candidates that are files.
  std::vector<VersionKey> versions_;
  std::vector<const HitCandidate*> ranked_;
  std::vector<FusedItem> items_;
  std::optional<Fusion> fusion_;
};

}  // namespace tessera
