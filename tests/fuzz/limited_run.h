#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace headway {

/// What became of a program that ran within bounds.
struct LimitedRun {
  int exit_code = -1;  ///< -1 if a signal ended it
  int signal = 0;
  std::string output;
  std::string errors;

  /// "exit code 2" or "signal 11".
  [[nodiscard]] std::string ending() const;
};

/// Bounds that hold for each of a program's processes. Address space is not bounded under
/// sanitizers, which reserve terabytes of it.
struct RunBounds {
  int cpu_seconds = 60;
  std::size_t memory_bytes = std::size_t{3} << 30;
};

/// Runs `words` in `folder`, standard input empty or from `input`, and takes up to a few megabytes
/// of what it prints. `environment` holds NAME=VALUE beside what this process has.
[[nodiscard]] LimitedRun limited_run(const std::vector<std::string>& words,
                                     const std::filesystem::path& folder,
                                     const RunBounds& bounds = {},
                                     const std::vector<std::string>& environment = {});

}  // namespace headway
