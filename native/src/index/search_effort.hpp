// How hard graph searches of an index must try, and what that costs.
#pragma once
#include <algorithm>
#include <cmath>

namespace tessera {

/// Limits of a search for which the effort is measured. It is interpolated between them.
inline constexpr double EFFORT_LIMITS[] = {10, 100};

/// Measured by calibration for each of EFFORT_LIMITS.
struct SearchEffort {
  /// The window of a walk, see WalkParameters. The defaults reach a recall of 0.99 on every kind of
  /// embedding of text that was tried, without any measurement.
  float window[2] = {0.135f, 0.085f};
  /// Estimates of an average walk.
  float estimates[2] = {2000, 5000};
  /// False when no window comes near the target recall.
  bool sufficient[2] = {true, true};

  /// `filtered` walks have at least the default window: calibration measures without a filter, and
  /// members that are left may be farther from one another.
  float windowFor(double limit, bool filtered) const {
    const double share = std::clamp(std::log10(limit / EFFORT_LIMITS[0]), 0.0, 1.0);
    const double measured = window[0] + (window[1] - window[0]) * share;
    return static_cast<float>(filtered ? std::max<double>(measured, SearchEffort{}.windowFor(limit, false))
                                       : measured);
  }

  /// Estimates of an average walk that is to reach the `neighbours`-th nearest node.
  double estimatesFor(double neighbours) const {
    const double slope = std::max(std::log10(double{estimates[1]} / estimates[0]), 0.0);
    return estimates[0] * std::pow(std::max(neighbours / EFFORT_LIMITS[0], 1.0), slope);
  }

  /// False for numbers that no calibration gives.
  bool isPlausible() const {
    const auto within = [](float value, float most) { return value > 0 && value <= most; };
    return within(window[0], 1) && within(window[1], 1) && within(estimates[0], 1e9f) &&
           within(estimates[1], 1e9f);
  }

  bool isSufficientFor(double limit) const {
    return sufficient[0] && (limit <= EFFORT_LIMITS[0] || sufficient[1]);
  }
};

}  // namespace tessera
