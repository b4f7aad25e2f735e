#pragma once

#include <stdexcept>

namespace headway {

/// SIGINT, SIGTERM or a dead peer's launcher asked us to end: keep what was measured.
class Interrupted : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Makes SIGINT and SIGTERM set a flag instead of ending the process.
void watch_for_interruption();

/// Throws Interrupted once a signal has come. Every loop that waits or repeats calls it.
void throw_if_interrupted();

/// The signal that came, or 0.
[[nodiscard]] int interrupting_signal();

}  // namespace headway
