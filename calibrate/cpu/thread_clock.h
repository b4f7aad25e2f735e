#pragma once

#include <sys/resource.h>
#include <time.h>

#include <chrono>

#include "calibrate/measure/stop_rule.h"

namespace headway {

[[nodiscard]] inline Seconds steady_now() {
  return Seconds(
      std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count());
}

/// Times a piece of work of this thread. A time in which the kernel took the processor away
/// (an involuntary context switch) is contaminated.
class ThreadClock {
 public:
  ThreadClock()
      : switches_(involuntary_switches()),
        processor_start_(processor_time()),
        start_(steady_now()) {}
  [[nodiscard]] Sample elapsed() const {
    const Seconds time = steady_now() - start_;
    return {time, involuntary_switches() > switches_};
  }
  /// For work that only computes: a contaminated sample counts the processor's time alone. Cold
  /// caches after its return apart, that is nearly the time of an undisturbed run, and all there is
  /// of work that outlasts every time slice of a busy machine.
  [[nodiscard]] Sample elapsed_computing() const {
    const Seconds processor = processor_time() - processor_start_;
    const Sample sample = elapsed();
    return sample.contaminated ? Sample{processor, true} : sample;
  }

 private:
  [[nodiscard]] static long involuntary_switches() {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nivcsw;
  }

  [[nodiscard]] static Seconds processor_time() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return Seconds(static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec));
  }

  long switches_;
  Seconds processor_start_;
  Seconds start_;
};

}  // namespace headway
