#pragma once

#include <vector>

#include "sim/base/units.h"

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
  /// 95th percentile of an iteration.
  RunTime(std::vector<double> walls, Seconds low, Seconds high);

  /// That it is through by then, in [0, 1].
  [[nodiscard]] double probability(Seconds deadline) const;
  /// When it is through with this probability, in (0, 1); infinite if never.
  [[nodiscard]] Seconds at(double probability) const;

 private:
  std::vector<double> walls_;
  double width_;  ///< standard deviation of the logarithm of X
};

}  // namespace headway
