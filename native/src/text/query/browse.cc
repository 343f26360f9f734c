#include "text/query/browse.hpp"

#include <algorithm>
#include <ranges>

namespace tessera {

namespace {

/// Iterates over the documents of one segment that are in scope and shard.
class DocumentIterator {
 public:
  DocumentIterator(const TextSegment& segment, uint32_t number, TextShard shard, uint32_t from)
      : segment_(segment), number_(number), shard_(shard), document_(from) {
    skip();
  }

  bool atEnd() const { return document_ == segment_.documentCount(); }
  std::string_view path() const { return segment_.path(document_); }
  DocumentAddress address() const { return {number_, document_}; }

  void advance() {
    document_++;
    skip();
  }

 private:
  void skip() {
    document_ = nextInScope(segment_, document_);
    while (!atEnd() && !shard_.has(segment_.pathHashes[document_])) {
      document_ = nextInScope(segment_, document_ + 1);
    }
  }

  const TextSegment& segment_;
  const uint32_t number_;
  const TextShard shard_;
  uint32_t document_;
};

/// The first document whose path sorts after the given one.
uint32_t firstAfter(const TextSegment& segment, std::string_view path) {
  // The empty path stands for the start of the list.
  if (path.empty()) return 0;
  const auto documents = std::views::iota(uint32_t{0}, segment.documentCount());
  const auto pathOf = [&](uint32_t document) { return segment.path(document); };
  return static_cast<uint32_t>(
      std::ranges::upper_bound(documents, path, {}, pathOf) - documents.begin());
}

}  // namespace

std::vector<DocumentAddress> browse(const TextView& view, TextShard shard, std::string_view after,
                                    size_t limit) {
  std::vector<DocumentIterator> heads;
  for (uint32_t s = 0; s < view.segments().size(); s++) {
    const TextSegment& segment = view.segments()[s];
    heads.emplace_back(segment, s, shard, firstAfter(segment, after));
  }
  std::vector<DocumentAddress> page;
  while (page.size() < limit) {
    DocumentIterator* least = nullptr;
    for (DocumentIterator& head : heads) {
      if (head.atEnd()) continue;
      if (least == nullptr || head.path() < least->path()) least = &head;
    }
    if (least == nullptr) break;
    page.push_back(least->address());
    least->advance();
  }
  return page;
}

}  // namespace tessera
