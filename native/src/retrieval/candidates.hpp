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

/// A file that its text has found, or a chunk that its vector has found.
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

  /// Finds and ranks candidates for so many hits, in place of those that were found before.
  void find(size_t wanted);

  /// Best first. Equal ones are as they were found, files before chunks.
  std::span<const HitCandidate* const> ranked() const { return ranked_; }
  /// Whether there are no others.
  bool areAll() const { return hasAllTexts_ && hasAllVectors_; }
  /// Whether `find` would find others if more were wanted.
  bool canGrow() const { return !hasAllTexts_ || (!hasAllVectors_ && !request_.hits); }
  /// Files that their text has found.
  uint64_t files() const { return files_; }
  /// Matches as far as is known, and whether they are all.
  uint64_t total() const { return total_; }
  bool countsAll() const { return countsAll_; }

  /// The score that a chunk of a file has beside them.
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
  /// The versions of those that are files.
  std::vector<VersionKey> versions_;
  std::vector<const HitCandidate*> ranked_;
  std::vector<FusedItem> items_;
  std::optional<Fusion> fusion_;
};

}  // namespace tessera
