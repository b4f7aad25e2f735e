#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/sweep/mpi_crew.h"
#include "sim/sweep/sweep_point.h"

namespace headway {

/// Points number I, I + N, I + 2 N, ... of a sweep: what one task of a job array does.
struct Shard {
  std::int64_t index = 0;
  std::int64_t count = 1;
};

/// Reads "3/16". Throws InputError unless 0 <= I < N.
[[nodiscard]] Shard parse_shard(const std::string& text);

/// What a run found and did.
struct SweepSummary {
  std::int64_t points = 0;     ///< of the shard
  std::int64_t settled = 0;    ///< of those, that the store had before
  std::int64_t simulated = 0;  ///< the rest by what became of them
  std::int64_t does_not_fit = 0;
  std::int64_t refused = 0;
  std::int64_t failed = 0;
  /// Whether the store has a point that was simulated, be it another shard's; false for what
  /// `progress` is called with.
  bool has_simulated = false;

  /// Points that another run of the same sweep need not do again.
  [[nodiscard]] std::int64_t kept() const { return settled + simulated + does_not_fit + refused; }
};

struct SweepOptions {
  std::filesystem::path folder;
  Shard shard;
  int jobs = 1;              ///< points at a time, without a crew
  MpiCrew* crew = nullptr;   ///< who does the points, if this process does not
  std::string command_line;  ///< for the store
  /// Called before the first point, and whenever what was done has been stored, with what there is
  /// so far.
  std::function<void(const SweepSummary&)> progress;
};

/// Does every point of the shard that the folder's store has not settled yet, and stores each as it
/// is done. A point that goes wrong is stored as failed, with its reason, and stops nothing.
[[nodiscard]] SweepSummary run_sweep(const SweepJob& job, const SweepOptions& options);

/// What `run_sweep` would do: the points that it would work on, read and judged by memory but not
/// simulated ("done" stands for: would be simulated). Touches no store.
[[nodiscard]] std::vector<SweepPoint> planned_points(const SweepJob& job,
                                                     const SweepOptions& options);

/// What a follower of a crew does, until the leader has no more.
void follow_sweep(MpiCrew& crew, const std::function<SweepJob()>& read_job);

}  // namespace headway
