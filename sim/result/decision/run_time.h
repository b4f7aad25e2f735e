#pragma once

#include <optional>
#include <vector>

#include "sim/base/units.h"
#include "sim/result/prediction.h"

namespace headway {

/// When a run is through: how its histories of failures spread, times how uncertain the prediction
/// of an iteration is.
///
/// T = X W. W is the wall time of one history, each as likely, worked out for the predicted
/// iteration. X is lognormal with median 1, as wide as the interval of the iteration says, and the
/// same for all iterations of a run, for what makes a prediction wrong does so each time. That
/// failures strike a run that takes twice as long twice as often is what makes the product one.
class RunTime {
 public:
  /// `walls`: of each history, infinite if it never ends; one or more. `low` and `high`: 5th and
  /// 95th percentile of an iteration; without any both 0.
  RunTime(std::vector<double> walls, Seconds low, Seconds high);

  /// The probability that it is through by then, in [0, 1].
  [[nodiscard]] double probability(Seconds deadline) const;
  /// When it is through with this probability, in (0, 1); infinite if never.
  [[nodiscard]] Seconds at(double probability) const;
  /// Infinite if a history never ends.
  [[nodiscard]] Seconds mean() const;
  /// The 5th and the 95th percentile.
  [[nodiscard]] Interval interval() const { return {at(0.05).count(), at(0.95).count()}; }

 private:
  std::vector<double> walls_;
  double width_ = 0.0;  ///< standard deviation of the logarithm of X
};

/// Tokens that the scenario's run trains on, samples of a model without tokens, as its
/// "reliability" or its "cost" says; nothing if neither does.
[[nodiscard]] std::optional<double> run_tokens(const Prediction& prediction);

/// Iterations of the scenario's run: those that its statistics say, or that its tokens take;
/// nothing if neither is given.
[[nodiscard]] std::optional<double> run_iterations(const Prediction& prediction);

/// When a run of so many tokens (or samples) is through. Without failures it takes what its
/// iterations take. With histories of a run of other tokens, or of a given time, their goodput
/// stretches it: its 5th, 50th and 95th percentile weigh 0.185, 0.630 and 0.185 (the extended
/// Pearson-Tukey approximation of Keefer and Bodily 1983, "Three-point approximations for
/// continuous random variables"). Requires a prediction that was simulated.
[[nodiscard]] RunTime run_time(const Prediction& prediction, double tokens);

/// The time of the scenario's own run; nothing if it has neither tokens nor a target, or was not
/// simulated.
[[nodiscard]] std::optional<RunTime> run_time(const Prediction& prediction);

}  // namespace headway
