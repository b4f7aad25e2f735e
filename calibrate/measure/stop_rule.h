#pragma once

#include <vector>

#include "sim/base/units.h"

namespace headway {

/// One timed repetition. `contaminated`: something that is not the operation is known to have
/// taken part (the thread was preempted, the clock was low), so that the time says nothing.
struct Sample {
  Seconds time;
  bool contaminated = false;
  Seconds besides = {};  ///< that taking it cost beyond `time`, if that is no small part
};

/// When a point has been repeated often enough in one pass: the 95 % interval of its median is
/// narrow, or the samples or the budget are used up. Counted in measured time, not by the clock, so
/// that ranks which share their samples stop together.
struct StopRule {
  int warm_up = 1;         ///< repetitions that are not looked at
  int least = 11;          ///< clean samples before the interval is trusted
  int most = 400;          ///< samples, contaminated ones included
  double interval = 0.01;  ///< half-width of the median's interval over the median
  Seconds budget{0.08};    ///< of all samples together; at least `kFewest` are taken even so
  static constexpr int kFewest = 3;
};

/// What one pass saw of one point.
class PassSamples {
 public:
  void add(Sample sample);

  [[nodiscard]] bool is_settled(const StopRule& rule) const;
  /// Contaminated samples are counted and left out; a pass of nothing else keeps them all, as a
  /// poor time is better than none (its contamination tells).
  [[nodiscard]] const std::vector<double>& times() const;
  [[nodiscard]] int contaminated() const { return static_cast<int>(contaminated_.size()); }
  [[nodiscard]] int total() const { return static_cast<int>(clean_.size()) + contaminated(); }

 private:
  std::vector<double> clean_;
  std::vector<double> contaminated_;
  double spent_ = 0.0;
};

/// A point after all passes. Its time is the median of the medians of the passes: an episode of
/// interference that spoils one pass moves the spread, not the time.
struct Measured {
  Seconds time;
  double mad = 0.0;          ///< median absolute deviation of all samples over the time
  double pass_spread = 0.0;  ///< (largest - smallest pass median) / 2 over the time
  Seconds p95;
  int samples = 0;
  int contaminated = 0;

  /// One standard deviation, relative: of the samples around the median (1.4826 MAD is the sigma
  /// of a normal distribution) or between the passes, whichever is larger.
  [[nodiscard]] double spread() const;
};
/// Requires at least one pass with a sample.
[[nodiscard]] Measured combined(const std::vector<PassSamples>& passes);

}  // namespace headway
