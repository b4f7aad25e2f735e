#pragma once

#include <cstdint>
#include <vector>

#include "sim/predict/reliability/failure_process.h"
#include "sim/scenario/reliability_settings.h"

namespace headway {

/// Where the wall time of one history of a job went. The parts add up to `wall`; seconds.
struct JobHistory {
  double wall = 0.0;
  double productive = 0.0;   ///< iterations that were kept, at whatever speed
  double checkpoints = 0.0;  ///< standing still for them
  double lost_work = 0.0;    ///< iterations that had to be done again
  double detection = 0.0;
  double restart = 0.0;  ///< scheduling, loading a checkpoint, warming up; forming anew in place
  double waiting = 0.0;  ///< for nodes
  /// Productive time of which a job with nodes missing, or that does more for its recovery's sake,
  /// made less; part of `productive`.
  double reduced_speed = 0.0;
  std::vector<std::int64_t> interruptions;  ///< by cause; the last is spot nodes taken back
  std::vector<double> cost_of_cause;        ///< lost work, detection, restart and waiting, by cause
  double spot_node_seconds = 0.0;           ///< of spot nodes that were there
  std::int64_t setbacks = 0;   ///< to the last checkpoint, which had not been taken just before
  bool finished = false;       ///< did the work before the time was over
  std::int64_t lifetimes = 0;  ///< of units that had to be drawn

  /// Work done, in seconds of a job at full speed without interruptions.
  [[nodiscard]] double work() const { return productive - reduced_speed; }
};

/// Whether a checkpoint can still be taken and stored between a warning and the end.
[[nodiscard]] inline bool is_saved_in(Seconds notice, const CheckpointSettings& checkpoint) {
  return notice > Seconds(0.0) && notice >= checkpoint.blocking + checkpoint.persisting;
}

/// What else a history is given.
struct HistoryLimits {
  std::int64_t most_lifetimes = kMostLifetimes;  ///< more are an InputError
  double record_start = 0.0;  ///< where in the record of spot nodes it begins, seconds
};

/// Runs the job through one history of failures, on a clock of its own: until `work` seconds of
/// training are done, or until `horizon` seconds have passed. Training goes on in intervals of
/// `interval`, each ended by a checkpoint. How it gets over a failure is the recovery's: in place,
/// or by undoing what was done since the last usable checkpoint. Failures during a recovery start
/// it anew. Spot nodes that are taken back are such a failure too, of a cause behind those of the
/// settings. Between failures everything is regular, so the cost is that of the failures.
[[nodiscard]] JobHistory job_history(const ReliabilitySettings& settings, Seconds interval,
                                     double work, double horizon, std::uint64_t seed,
                                     const HistoryLimits& limits = {});

}  // namespace headway
