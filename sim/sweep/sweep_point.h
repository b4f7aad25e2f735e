#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario/scenario.h"
#include "sim/sweep/axis.h"
#include "sim/sweep/sweep_store.h"

namespace headway {

/// What is swept over.
struct SweepJob {
  std::string path;         ///< of the base scenario; a file that can be read more than once
  ScenarioOptions options;  ///< of every point
  Scenario base;
  std::vector<Axis> axes;
  std::string inputs;  ///< fingerprint of everything that points depend on beside their axes
};

/// Reads the base scenario and checks the axes against it. Throws InputError with every problem.
[[nodiscard]] SweepJob read_sweep_job(const std::string& path, const ScenarioOptions& options,
                                      std::vector<Axis> axes, Diagnostics& diagnostics);

/// Simulates point `index` in this process. With `only_read` a job that fits is "done" without a
/// result. Nothing if a point of its key is already in `keys`. A scenario with problems is refused,
/// not thrown.
[[nodiscard]] std::optional<SweepPoint> run_point(const SweepJob& job, std::int64_t index,
                                                  const FingerprintSet& keys, bool only_read);

/// The point of which nothing is known but that it failed.
[[nodiscard]] SweepPoint failed_point(const SweepJob& job, std::int64_t index, std::string reason);

/// The command line, as far as the scenario goes, with which `headway COMMAND` does the same.
[[nodiscard]] std::string scenario_line(std::string_view command, const std::string& path,
                                        const ScenarioOptions& options);
/// The command line that predicts a scenario read with these options.
[[nodiscard]] std::string simulate_line(const std::string& path, const ScenarioOptions& options);

}  // namespace headway
