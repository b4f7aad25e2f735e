#pragma once

#include <span>
#include <string_view>

#include "sim/base/units.h"

namespace headway {

struct ReliabilitySettings;

/// How a job gets over what breaks. What all have in common (detection, spares, repairs,
/// checkpoints, the record of spot nodes) is told once, in job_history.h; a recovery says what is
/// its own.
struct Recovery {
  std::string_view name;   ///< "drop_out": as scenarios spell it
  std::string_view title;  ///< "replicas drop out": as people read it
  std::string_view what;   ///< in a sentence
  std::string_view source;

  /// Steps that are done live on in the memory of those that are left: the one under way is lost,
  /// and everybody stands still for a while. Else the job starts anew from a checkpoint.
  bool in_place = false;
  /// In place, but only once other nodes have taken the place of the lost ones.
  bool moves = false;
  /// Samples a second while so many nodes are missing, of those with all; 0: it cannot go on.
  double (*speed)(const ReliabilitySettings& job, int missing) = nullptr;
  /// In place: what everybody stands still for once a failure is detected and, where nodes are
  /// moved, replaced.
  Seconds (*pause)(const ReliabilitySettings& job) = nullptr;
  /// In place, with nodes missing: the same when some of them join again. Till then they start
  /// beside the job.
  Seconds (*rejoin)(const ReliabilitySettings& job) = nullptr;
  /// What every step takes more, as a share, where the scenario says nothing. Nothing: 0.
  double (*overhead)(const ReliabilitySettings& job) = nullptr;
  /// Why such a job cannot do so, in a few words; empty if it can. Nothing: every job can.
  std::string_view (*obstacle)(const ReliabilitySettings& job) = nullptr;
};

/// All there are; the first is what a scenario means that says nothing.
[[nodiscard]] std::span<const Recovery> recoveries();

/// Speed of a job that cannot do without a node.
[[nodiscard]] double speed_with_all(const ReliabilitySettings& job, int missing);
/// The speed of a job that works with the replicas that are whole: 1 - lost / replicas.
[[nodiscard]] double speed_of_whole_replicas(const ReliabilitySettings& job, int missing);

}  // namespace headway
