// Makes hits of candidates.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "retrieval/candidates.hpp"
#include "retrieval/passages.hpp"

namespace tessera {

class HitMaker {
 public:
  /// @param missing receives the versions that the caller must read before their hits can be shown
  HitMaker(std::span<const TextSegment> segments, const RetrievalRequest& request,
           const ChunkSource& source, const Candidates& candidates, Passages& passages,
           std::vector<std::string>& missing)
      : segments_(segments),
        request_(request),
        source_(source),
        candidates_(candidates),
        passages_(passages),
        missing_(missing) {}

  std::string pathOf(const HitCandidate& candidate) const;
  /// Whether the request excludes the candidate.
  bool isExcluded(const HitCandidate& candidate) const;
  /// The hit of a candidate; std::nullopt if it has no chunk and no file to show.
  std::optional<ShownHit> hitOf(const HitCandidate& candidate);
  /// Adds further chunks of the file of the last hit, best first. The last hit is that of this candidate.
  void addPassages(const HitCandidate& candidate, std::vector<ShownHit>& hits);

 private:
  bool isExcluded(const ChunkRef& chunk) const;
  std::vector<ChunkRef> chunksOf(std::string_view version) const;
  std::optional<ShownHit> passageOf(const ChunkRef& chunk, const ShownHit& best, double share) const;

  const std::span<const TextSegment> segments_;
  const RetrievalRequest& request_;
  const ChunkSource& source_;
  const Candidates& candidates_;
  Passages& passages_;
  std::vector<std::string>& missing_;
};

}  // namespace tessera
