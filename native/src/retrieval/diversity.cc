#include "retrieval/diversity.hpp"

#include <algorithm>
#include <span>

#include "common/cosine.hpp"
#include "kernels/kernels.hpp"

namespace tessera {

namespace {

/// A candidate that was not chosen yet.
struct Open {
  const HitCandidate* candidate;
  /// The greatest cosine with the chosen candidates.
  double nearest;
};

double cosineBetween(const FusedItem& a, const FusedItem& b, uint32_t dimension) {
  return cosineOf(kernels().dot(a.vector, b.vector, dimension), a.inverseNorm, b.inverseNorm);
}

void diversifyGroup(std::span<const HitCandidate*> group, double diversity, uint32_t dimension,
                    size_t wanted) {
  std::vector<Open> open;
  for (const HitCandidate* candidate : group) open.push_back({candidate, 0});
  const auto value = [&](const Open& each) {
    return (1 - diversity) * each.candidate->item.score - diversity * each.nearest;
  };
  for (size_t chosen = 0; chosen < std::min(wanted, group.size()); chosen++) {
    // Equal candidates keep their order: the first one is chosen.
    const auto best = std::ranges::max_element(open, {}, value);
    group[chosen] = best->candidate;
    open.erase(best);
    const FusedItem& item = group[chosen]->item;
    for (Open& each : open) {
      const FusedItem& other = each.candidate->item;
      if (item.vector == nullptr || other.vector == nullptr) continue;
      const double cosine = cosineBetween(item, other, dimension);
      each.nearest = chosen == 0 ? cosine : std::max(each.nearest, cosine);
    }
  }
  const size_t chosen = group.size() - open.size();
  for (size_t i = 0; i < open.size(); i++) group[chosen + i] = open[i].candidate;
}

}  // namespace

void diversify(std::vector<const HitCandidate*>& ranked, double diversity, uint32_t dimension,
               size_t wanted) {
  for (size_t from = 0; from < std::min(wanted, ranked.size()); from += DIVERSE_CANDIDATES) {
    const size_t size = std::min(DIVERSE_CANDIDATES, ranked.size() - from);
    diversifyGroup(std::span(ranked).subspan(from, size), diversity, dimension, wanted - from);
  }
}

}  // namespace tessera
