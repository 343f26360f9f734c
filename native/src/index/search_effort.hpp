// The effort that graph searches of an index need, and its cost.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>

namespace tessera {

/// Limits of a search for which the effort is measured. It is interpolated between them.
inline constexpr double EFFORT_LIMITS[] = {10, 100};
/// Limits below this one are nearer to the first, as the effort grows with the logarithm.
inline constexpr double EFFORT_LIMITS_MEAN = 31.6;

/// Measured by calibration for each of EFFORT_LIMITS.
struct SearchEffort {
  /// The window of a walk. The defaults reach a recall of 0.99 on most kinds of embeddings and of queries,
  /// without any measurement.
  float window[2] = {0.2f, 0.1f};
  /// Estimates of an average walk.
  float estimates[2] = {2000, 5000};
  /// False when no window comes near the target recall.
  bool sufficient[2] = {true, true};

  float windowFor(double limit) const {
    const double share = std::clamp(std::log10(limit / EFFORT_LIMITS[0]), 0.0, 1.0);
    return window[0] + (window[1] - window[0]) * static_cast<float>(share);
  }

  /// Estimates of an average walk that reaches the `neighbours`-th nearest node.
  double estimatesFor(double neighbours) const {
    const double slope = std::max(std::log10(double{estimates[1]} / estimates[0]), 0.0);
    return estimates[0] * std::pow(std::max(neighbours / EFFORT_LIMITS[0], 1.0), slope);
  }

  /// False for values that no calibration produces.
  bool isPlausible() const {
    const auto within = [](float value, float most) { return value > 0 && value <= most; };
    for (size_t limit = 0; limit < std::size(EFFORT_LIMITS); limit++) {
      if (!within(window[limit], 1) || !within(estimates[limit], 1e9f)) return false;
    }
    return true;
  }

  constexpr bool isSufficientFor(double limit) const {
    return sufficient[0] && (limit < EFFORT_LIMITS_MEAN || sufficient[1]);
  }
};

// A retrieval of ten hits asks for a few more.
static_assert(SearchEffort{.sufficient = {true, false}}.isSufficientFor(12));
static_assert(!SearchEffort{.sufficient = {true, false}}.isSufficientFor(100));
static_assert(!SearchEffort{.sufficient = {false, true}}.isSufficientFor(100));

}  // namespace tessera
