// Renders the hits of a retrieval.
#pragma once
#include <optional>
#include <span>
#include <string>

#include "retrieval/passages.hpp"
#include "text/top_matches.hpp"

namespace tessera {

/// A hit as it is shown.
struct ShownHit {
  /// Null if only the vector has found it.
  const TextMatch* match = nullptr;
  /// None if the file has no chunks.
  std::optional<ChunkRef> chunk;
  /// The file in JSON, if there is no chunk.
  std::string_view file;
  /// In UTF-8.
  std::string path;
  double score = 0;
  std::optional<double> semantic;
  std::optional<double> keyword;

  /// Identifies the hit between pages.
  std::string_view key() const { return chunk ? chunk->parts.id : std::string_view(path); }
};

class HitRenderer {
 public:
  /// @param hasQuery whether highlights, titles and headings are shown
  HitRenderer(std::span<const TextSegment> segments, const ChunkSource& source, Passages& passages,
              bool hasQuery)
      : segments_(segments), source_(source), passages_(passages), hasQuery_(hasQuery) {}

  void append(std::string& out, const ShownHit& hit);

 private:
  void appendContext(std::string& out, const ShownHit& hit);
  void appendTitle(std::string& out, const ShownHit& hit);

  std::span<const TextSegment> segments_;
  const ChunkSource& source_;
  Passages& passages_;
  const bool hasQuery_;
  Snippet snippet_;
};

}  // namespace tessera
