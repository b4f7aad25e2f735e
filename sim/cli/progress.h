#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "sim/cli/terminal.h"

namespace headway {

/// How far a long command is, on standard error. On a terminal one line, redrawn at most ten times
/// a second and wiped at the end; elsewhere (a log) a line at the start, one every 30 s, and one at
/// the end.
class Progress {
 public:
  /// Nothing is shown for `never`, nor for `automatic` with --quiet.
  Progress(Terminal& terminal, When when, std::string what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(std::size_t done, std::size_t of);
  /// It went well; without it (an error is on its way) nothing is said at the end.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;
  [[nodiscard]] std::string line() const;
  [[nodiscard]] double seconds() const;

  Terminal& terminal_;
  std::string what_;
  std::size_t points_ = 0;
  std::size_t done_ = 0;
  bool is_shown_;
  bool is_redrawn_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = start_;
};

/// "850 ms", "2.1 s", "1:24" and "2:03:05".
[[nodiscard]] std::string duration_text(double seconds);

}  // namespace headway
