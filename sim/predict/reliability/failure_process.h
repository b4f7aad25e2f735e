#pragma once

#include <boost/random/mersenne_twister.hpp>
#include <cstdint>
#include <queue>
#include <vector>

#include "sim/scenario/recovery/failure_count.h"

namespace headway {

/// When something breaks, one history of it. Units that break are replaced by new ones; all are new
/// at time 0 and age whether the job runs or not. Each cause has random numbers of its own, so that
/// histories of which one cause differs are alike in all others.
class FailureProcess {
 public:
  struct Failure {
    double time = 0.0;  ///< seconds
    int cause = -1;
    friend bool operator>(const Failure& a, const Failure& b) {
      return a.time != b.time ? a.time > b.time : a.cause > b.cause;
    }
  };

  /// `causes` outlives this object. The same seed gives the same history. Whoever draws more than
  /// `most_lifetimes` gets an InputError.
  FailureProcess(const std::vector<FailureCause>& causes, std::uint64_t seed,
                 std::int64_t most_lifetimes = kMostLifetimes);

  /// The next one; its time is infinite if nothing can break.
  [[nodiscard]] Failure next() const;
  /// Goes past it.
  void pop();
  /// Lifetimes so far.
  [[nodiscard]] std::int64_t drawn() const { return drawn_; }

 private:
  double lifetime(int cause);
  void push(int cause, double after);

  const std::vector<FailureCause>& causes_;
  std::int64_t most_lifetimes_;
  std::int64_t drawn_ = 0;
  std::vector<boost::random::mt19937_64> random_;  ///< by cause
  std::priority_queue<Failure, std::vector<Failure>, std::greater<>> pending_;
};

}  // namespace headway
