#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/plan/goal.h"
#include "sim/plan/plan_options.h"

namespace headway {

/// What a run takes with one strategy on one cluster.
struct ClusterRun {
  Leader leader;
  Seconds training;           ///< without failures and checkpoints, as predicted
  Seconds median;             ///< with them
  Seconds needed;             ///< it is through by then with the goal's probability
  double probability = 0.0;   ///< of being through by the deadline
  std::optional<double> usd;  ///< median of the whole run, where it has prices
  bool is_on_front = false;   ///< nobody beats it in time, accelerators, price and free memory
};

/// A number of nodes and what became of it.
struct ClusterSize {
  std::int64_t nodes = 0;
  std::int64_t accelerators = 0;
  std::int64_t global_batch = 0;
  std::string reason;            ///< why nothing can run on it; empty if something can
  Seconds closed_form;           ///< of the whole run at its fastest, without failures
  std::vector<ClusterRun> runs;  ///< simulated, fastest first; empty if the closed form settles it

  [[nodiscard]] bool can_run() const { return reason.empty(); }
  /// Simulated, and the fastest is in time.
  [[nodiscard]] bool meets(Seconds deadline) const {
    return !runs.empty() && runs.front().needed <= deadline;
  }
};

/// Judges the sizes that a scenario's cluster could have.
class ClusterSizes {
 public:
  /// `base` and `goal` have to outlive this.
  ClusterSizes(const Scenario& base, const PlanOptions& options, const TrainingGoal& goal);

  /// By the closed form, in forked children.
  [[nodiscard]] std::vector<ClusterSize> estimates(const std::vector<std::int64_t>& nodes) const;

  /// Simulates the leaders of a size on which something can run.
  void simulate(ClusterSize& size) const;

  /// Nodes below which not even the peak of the accelerators is through by then.
  [[nodiscard]] std::int64_t least_nodes(Seconds deadline) const;
  /// Nodes that are looked at: eight times what peak and memory ask for. On more of them the job
  /// would run at an eighth of the peak or less.
  [[nodiscard]] std::int64_t most_nodes(Seconds deadline) const;

 private:
  [[nodiscard]] std::string estimated(const ClusterSize& size, const LeaderOptions& options) const;
  [[nodiscard]] ClusterSize with_batch(std::int64_t nodes) const;
  [[nodiscard]] std::optional<LeaderOptions> options_of(const ClusterSize& size) const;
  [[nodiscard]] std::vector<Override> goal_overrides() const;
  [[nodiscard]] double tokens_of_step(const ClusterSize& size) const;
  [[nodiscard]] ClusterRun run_of(const ClusterSize& size, Leader leader) const;

  const Scenario& base_;
  PlanOptions options_;
  const TrainingGoal& goal_;
};

}  // namespace headway
