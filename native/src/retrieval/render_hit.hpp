// Renders the hits of a retrieval.
#pragma once
#include <span>
#include <string>

#include "retrieval/passages.hpp"

namespace tessera {

/// Renders hits in JSON: their chunks, highlights, titles and headings.
class HitRenderer {
 public:
  /// @param hasQuery whether highlights, titles and headings are shown
  HitRenderer(std::span<const TextSegment> segments, Passages& passages, bool hasQuery)
      : segments_(segments), passages_(passages), hasQuery_(hasQuery) {}

  void appendHits(std::string& out, std::span<const ShownHit> hits);
  /// Hits of one file, best first.
  void appendGroup(std::string& out, std::span<const ShownHit> hits);

 private:
  void append(std::string& out, const ShownHit& hit);
  void appendContext(std::string& out, const ShownHit& hit);
  void appendTitle(std::string& out, const ShownHit& hit);

  std::span<const TextSegment> segments_;
  Passages& passages_;
  const bool hasQuery_;
};

}  // namespace tessera
