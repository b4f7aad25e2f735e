#pragma once

#include <time.h>

#include <cmath>

#include "calibrate/cpu/thread_clock.h"
#include "calibrate/suite/interruption.h"

namespace headway {

/// Compute that takes its time without doing it. Waits end at absolute times, so that what one
/// oversleeps the next makes up for.
class EmulatedClock {
 public:
  /// Whatever comes next begins now: the stream stood idle until here.
  void start() { until_ = steady_now(); }
  void wait(Seconds time) {
    until_ += time;
    const double whole = std::floor(until_.count());
    const timespec end{static_cast<time_t>(whole),
                       static_cast<long>((until_.count() - whole) * 1e9)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, nullptr) != 0) {
      throw_if_interrupted();
    }
  }

 private:
  Seconds until_;
};

}  // namespace headway
