// How hard graph searches of an index must try, and what that costs.
#pragma once
#include <algorithm>
#include <cmath>

#include "graph/graph.hpp"

namespace tessera {

/// Limits of a search for which the effort is measured. It is interpolated between them.
inline constexpr double EFFORT_LIMITS[] = {10, 100};

/// Measured by calibration for each of EFFORT_LIMITS.
struct SearchEffort {
  /// The windows of a walk. The defaults reach a recall of 0.99 on most kinds of embeddings of text,
  /// without any measurement.
  WalkWindow window[2] = {{0.135f, 0.135f, 0}, {0.085f, 0.085f, 0}};
  /// Estimates of an average walk.
  float estimates[2] = {2000, 5000};
  /// False when no window comes near the target recall.
  bool sufficient[2] = {true, true};

  /// `filtered` walks have at least the default window: calibration measures without a filter, and
  /// members that are left may be farther from one another.
  WalkWindow windowFor(double limit, bool filtered) const {
    const auto share =
        static_cast<float>(std::clamp(std::log10(limit / EFFORT_LIMITS[0]), 0.0, 1.0));
    const auto between = [&](float WalkWindow::*value) {
      return window[0].*value + (window[1].*value - window[0].*value) * share;
    };
    const WalkWindow measured{between(&WalkWindow::near), between(&WalkWindow::far),
                              between(&WalkWindow::nearEstimate)};
    if (!filtered) return measured;
    const float least = SearchEffort{}.windowFor(limit, false).near;
    return {std::max(measured.near, least), std::max(measured.far, least), measured.nearEstimate};
  }

  /// Estimates of an average walk that is to reach the `neighbours`-th nearest node.
  double estimatesFor(double neighbours) const {
    const double slope = std::max(std::log10(double{estimates[1]} / estimates[0]), 0.0);
    return estimates[0] * std::pow(std::max(neighbours / EFFORT_LIMITS[0], 1.0), slope);
  }

  /// False for numbers that no calibration gives.
  bool isPlausible() const {
    const auto within = [](float value, float most) { return value > 0 && value <= most; };
    for (size_t limit = 0; limit < std::size(EFFORT_LIMITS); limit++) {
      if (!within(window[limit].near, 1) || !within(window[limit].far, 1) ||
          !std::isfinite(window[limit].nearEstimate) || !within(estimates[limit], 1e9f)) {
        return false;
      }
    }
    return true;
  }

  bool isSufficientFor(double limit) const {
    return sufficient[0] && (limit <= EFFORT_LIMITS[0] || sufficient[1]);
  }
};

}  // namespace tessera
