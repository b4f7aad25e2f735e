#include "calibrate/suite/device_wait.h"

#include <fmt/format.h>

#include <chrono>

#include "calibrate/suite/interruption.h"
#include "sim/base/diagnostic.h"

namespace headway {

void wait_until(const std::function<WaitState()>& state, Seconds deadline, const char* what) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  while (state() == WaitState::waiting) {
    throw_if_interrupted();
    const std::chrono::duration<double> waited = Clock::now() - start;
    if (waited.count() > deadline.count()) {
      throw EnvironmentError(fmt::format("{} did not end within {:.0f} s", what, deadline.count()));
    }
  }
}

}  // namespace headway
