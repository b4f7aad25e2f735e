#pragma once

#include <map>
#include <string>
#include <vector>

namespace headway {

/// How slow a job gets if only the operations of one group take the time they took and all others
/// their ideal: mean step over mean ideal step.
template <class Key>
struct GroupSlowdown {
  Key group;
  double slowdown = 1.0;        ///< over all steps
  std::vector<double> by_step;  ///< of each step
};

/// What repairing one group gives, and what only its slowness costs.
struct RepairEffect {
  double with_it_repaired_s = 0.0;  ///< mean step, everything else as it was
  double with_only_it_s = 0.0;      ///< mean step, everything else ideal
  double removed_share = 0.0;       ///< (T - with it repaired) / (T - T_ideal)
  double added_share = 0.0;         ///< (with only it - T_ideal) / (T - T_ideal)
};

/// A real trace run again: as it was, without what its operations do not explain, and without
/// stragglers. Method and terms: Lin et al. 2025 (arXiv:2505.05713).
struct ReplayResult {
  std::string trace;
  int replicas = 0;
  int stages = 0;
  int ranks = 0;
  std::vector<int> steps;          ///< their numbers
  std::vector<double> measured_s;  ///< of each step: last end - first start
  std::vector<double> replayed_s;  ///< every operation as long as measured, no delay between
  std::vector<double> ideal_s;     ///< every operation as long as typical of its type
  double launch_slowdown = 1.0;    ///< mean measured / mean replayed: what rules do not explain
  double slowdown = 1.0;           ///< S: mean replayed / mean ideal
  std::vector<GroupSlowdown<int>> by_replica;  ///< slowest first
  std::vector<GroupSlowdown<int>> by_stage;
  std::vector<GroupSlowdown<std::string>> by_operation;
  RepairEffect last_stage;
  RepairEffect worst_ranks;
  std::vector<int> worst;  ///< the slowest 3 % of ranks, at least one
  /// Correlation of forward and backward times of the same micro-batch, by what either is beyond
  /// the mean of its rank, mean over stages; 0 where they do not differ. Near 1 micro-batches
  /// differ in work: sequences of different length.
  double forward_backward_correlation = 0.0;
};

}  // namespace headway
