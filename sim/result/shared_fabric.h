#pragma once

#include <limits>
#include <string>
#include <vector>

#include "sim/base/units.h"

namespace headway {

/// Several jobs on one fabric: how fast each is beside the others. Time is cut where a job joins,
/// leaves, or is given other nodes.
struct SharedFabric {
  /// A job from one cut to the next.
  struct Stay {
    std::string job;
    double from = 0.0;  ///< seconds
    double to = std::numeric_limits<double>::infinity();
    int accelerators = 0;
    Seconds alone;         ///< an iteration of the job on the very same nodes, nobody else there
    Seconds shared;        ///< beside the others
    double samples = 0.0;  ///< of an iteration

    [[nodiscard]] double slowdown() const { return shared / alone; }
  };
  std::vector<Stay> stays;  ///< by time, then in the order of the scenario

  /// A job over all its stays.
  struct Total {
    std::string job;
    double samples = 0.0;   ///< in the stays that end
    double slowdown = 1.0;  ///< of the stay that does not end, else the mean over time of work
  };
  [[nodiscard]] std::vector<Total> totals() const;

  /// How much longer the first job takes over what it does in so many seconds alone, from time 0.
  /// Without an end it is over what it does until the last of the others has left; where some stay
  /// for good, as long as they are there.
  [[nodiscard]] double slowdown_over(Seconds alone) const;
  /// The same of the run that the scenario describes.
  double slowdown = 1.0;
};

}  // namespace headway
